// signin: the door where the server wants to know who is reading.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { Button } from "./parts/button.js";
import { Field } from "./parts/field.js";
import { Mark } from "./parts/icon.js";
import { Notice } from "./parts/states.js";
import { ROOT, currentRoute, href } from "./router.js";

const PAGE = "sign-in";

export function SignIn() {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    const answer = await signIn(token.trim());
    if (answer) setProblem(answer);
    else if (currentRoute().page === PAGE) location.assign(href());
    else location.reload();
  };
  return html`<main class="sign-in card padded">
    <${Mark} size="40" />
    <h1>Sign in to Lore</h1>
    <p class="soft">On this machine, <code>lore explorer</code> opens this page without a password. From elsewhere, use a token; <code>lore token create</code> makes one.</p>
    ${currentRoute().params.link === "old" &&
    html`<${Notice} tone="warn" icon="clock">This link was used already, or is too old. <code>lore explorer</code> makes a new one.<//>`}
    <form class="stack" onSubmit=${submit}>
      <${Field} label="Token" type="password" autocomplete="current-password" value=${token} onInput=${setToken} problem=${problem} />
      <${Button} type="submit" look="main" disabled=${!token.trim()}>Sign in<//>
    </form>
  </main>`;
}

/** Empty, or why it did not work. */
async function signIn(token) {
  try {
    const response = await fetch(`${ROOT}sign-in`, { method: "POST", headers: { Authorization: `Bearer ${token}` } });
    if (response.ok) return "";
    const { error } = await response.json();
    return error?.message ?? "This token is not valid.";
  } catch {
    return "Lore does not answer.";
  }
}
