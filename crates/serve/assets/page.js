// `/` moves to the search field, as on many sites. The page works without it.
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  const field = document.getElementById("q");
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping && field) {
    event.preventDefault();
    field.focus();
    field.select();
  }
});
