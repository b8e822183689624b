//! What the kernel grants and tells beside files: CPUs and memory of threads, signals, FIFOs and files of one user, the
//! texts of `/sys` and `/proc`.

mod affinity;
mod cpu_ticks;
mod private;
// The disposition of a signal has no safe call.
#[cfg(unix)]
#[allow(unsafe_code)]
mod signals;
mod system;
// The policy of memory has no safe call.
#[allow(unsafe_code)]
pub mod thread;

pub use affinity::{
    PinError, affinity, process_cpu_time, set_affinity, thread_cpu_time, thread_run_queue_wait,
};
#[cfg(target_os = "linux")]
pub use affinity::{current_cpu, thread_id};
pub use cpu_ticks::CpuTicks;
#[cfg(target_os = "linux")]
pub use private::open_fifo_for_writing;
pub use private::{open_fifo, open_private_file};
#[cfg(unix)]
pub use signals::fail_writes_beyond_the_file_limit;
pub use system::SystemTree;
pub use thread::{MemoryBinding, bind_memory_to_node, pin_current_thread};
