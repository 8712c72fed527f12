// The arrows that unfold the sidebar have no words of their own.
addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll(".bd-sidenav summary"))
    arrow.setAttribute("aria-label", "Pages under " + (arrow.closest("li").querySelector("a, p")?.textContent.trim() ?? "this"));
});
