package peers;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;

/** Protocol between the driver and an engine. The twin of protocol.rs, which describes it. */
final class Protocol {
  enum Operator { AND, OR, PHRASE }

  /** Mode of all queries of a run; with k = 0, only the count is wanted. */
  record Mode(Operator operator, int k, boolean counts) {
    static Mode parse(String asked) {
      // What an engine may choose is any of the words here.
      String name = asked.startsWith("auto") ? "or" + asked.substring(4) : asked;
      for (Operator operator : Operator.values()) {
        String prefix = operator.name().toLowerCase(Locale.ROOT);
        if (!name.startsWith(prefix)) continue;
        String rest = name.substring(prefix.length());
        if (rest.equals("count")) return new Mode(operator, 0, true);
        boolean counts = rest.endsWith("c");
        String k = counts ? rest.substring(0, rest.length() - 1) : rest;
        return new Mode(operator, Integer.parseInt(k), counts);
      }
      throw new IllegalArgumentException("there is no mode `" + name + "`");
    }
  }

  /** Result of one query. Reused between passes, so that the timed span does not allocate it. */
  static final class Found {
    long count; // exact where it was wanted, else the number of hits returned
    int best;   // the best hit's document, or -1
    float score;
  }

  interface Searcher {
    /** The measured span. */
    void search(String query, Mode mode, Found found) throws IOException;

    String url(int document) throws IOException;
  }

  static int number(String[] options, String name) {
    int at = List.of(options).indexOf(name);
    if (at < 0 || at + 1 == options.length) throw new IllegalArgumentException(name + " is missing");
    return Integer.parseInt(options[at + 1]);
  }

  static long directoryBytes(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  static void printIndexed(String version, long documents, double wallS, int segments, Path directory)
      throws IOException {
    System.out.printf(Locale.ROOT,
        "{\"version\":\"%s\",\"documents\":%d,\"wall_s\":%.3f,\"segments\":%d,\"index_bytes\":%d,\"store_bytes\":0}%n",
        version, documents, wallS, segments, directoryBytes(directory));
  }

  /** Answers the driver until it says `quit`. */
  static void serve(Searcher searcher, String modeName, Path queryFile) throws IOException {
    Mode mode = Mode.parse(modeName);
    String[] queries = Files.readAllLines(queryFile).toArray(new String[0]);
    long[] timesNs = new long[queries.length];
    Found[] found = new Found[queries.length];
    Arrays.setAll(found, at -> new Found());
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(
        new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16), false, StandardCharsets.UTF_8);
    out.println("READY " + queries.length);
    out.flush();
    for (String command; (command = in.readLine()) != null; out.flush()) {
      switch (command.trim()) {
        case "pass" -> {
          pass(searcher, queries, mode, timesNs, found);
          StringBuilder line = new StringBuilder("P");
          for (long timeNs : timesNs) line.append(' ').append(timeNs);
          out.println(line);
        }
        case "results" -> {
          for (Found one : found) {
            String best = one.best >= 0 ? one.score + "\t" + searcher.url(one.best) : "\t";
            out.println("R\t" + one.count + "\t" + best);
          }
          out.println("END");
        }
        case "quit" -> { return; }
        default -> {
          String[] words = command.trim().split(" ");
          if (!words[0].equals("saturate") || words.length != 3) {
            throw new IllegalArgumentException("there is no command `" + command + "`");
          }
          long ms = Long.parseLong(words[1]);
          out.println("S " + saturate(searcher, queries, mode, ms, Integer.parseInt(words[2])) + " " + ms);
        }
      }
    }
  }

  /** Has clients send queries without a pause, after a quarter of the time as warm-up; returns their answers. */
  private static long saturate(Searcher searcher, String[] queries, Mode mode, long ms, int clients)
      throws IOException {
    LongAdder answers = new LongAdder();
    CyclicBarrier start = new CyclicBarrier(clients);
    Future<?>[] ended = new Future<?>[clients];
    try (ExecutorService threads = Executors.newFixedThreadPool(clients)) {
      for (int client = 0; client < clients; client++) {
        int first = client * queries.length / clients;
        ended[client] = threads.submit(() -> {
          Found found = new Found();
          start.await();
          long began = System.nanoTime(), from = ms * 250_000L, to = ms * 1_250_000L, elapsed = 0;
          for (int at = first; elapsed < to; at++) {
            searcher.search(queries[at % queries.length], mode, found);
            elapsed = System.nanoTime() - began;
            if (elapsed > from && elapsed <= to) answers.increment();
          }
          return null;
        });
      }
      for (Future<?> one : ended) one.get();
    } catch (InterruptedException | ExecutionException error) {
      throw new IOException(error);
    }
    return answers.sum();
  }

  /** A method of its own, so that the compiler replaces it between two passes. */
  private static void pass(Searcher searcher, String[] queries, Mode mode, long[] timesNs, Found[] found)
      throws IOException {
    for (int at = 0; at < queries.length; at++) {
      long started = System.nanoTime();
      searcher.search(queries[at], mode, found[at]);
      timesNs[at] = System.nanoTime() - started;
    }
  }
}
