// Conveniences: the page says everything without them. A button that copies each command, and all
// details open on paper and where a link leads into them.
"use strict";
for (const command of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "copy";
  button.setAttribute("aria-label", "copy " + command.textContent);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(command);
      button.textContent = "selected";
    }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  command.after(button);
}
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
