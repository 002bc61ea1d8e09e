
// Ratings: one user at a time.
{
  const articles = [...document.querySelectorAll(".user")];
  const select = document.getElementById("user");
  select.append(...data.model.users.map((id, value) => element("option", { value }, id)));
  const show = () => articles.forEach((article, at) => article.classList.toggle("on", at === Number(select.value)));
  select.addEventListener("change", show);
  show();
}
