// new_token: make a token, and show it the only time that it can be shown.
import { html } from "htm/preact";
import { useRef, useState } from "preact/hooks";
import { request } from "../../api.js";
import { useGet } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import { Choice, Field } from "../../parts/field.js";
import { Notice } from "../../parts/states.js";
import { tell } from "../../parts/toast.js";

const DAY_SECONDS = 86_400;
const RIGHTS = [
  ["read", "Read only"],
  ["read,write", "Read and write"],
  ["read,write,admin", "Everything, also settings and tokens"],
];
const TIMES = [["", "Never"], ["30", "In 30 days"], ["90", "In 90 days"], ["365", "In a year"]];

export function NewToken({ onClose }) {
  const [token, setToken] = useState(null);
  return html`<${Dialog} title=${token ? "Your new token" : "New token"} onClose=${onClose}>
    ${token ? html`<${Shown} token=${token} onClose=${onClose} />` : html`<${Form} onMade=${setToken} onClose=${onClose} />`}
  <//>`;
}

function Form({ onMade, onClose }) {
  const [grant, setGrant] = useState({ name: "", rights: "read,write", namespaces: "shared", days: "" });
  const [problem, setProblem] = useState("");
  const { value } = useGet("namespaces", { live: false });
  const set = (name) => (one) => (setProblem(""), setGrant((old) => ({ ...old, [name]: one })));
  const known = value?.namespaces.map((one) => one.name).join(", ");
  const submit = async (event) => {
    event.preventDefault();
    const answer = await request("POST", "tokens", { json: documentOf(grant) });
    if (answer.error) setProblem(answer.error.message);
    else onMade(answer.value);
  };
  return html`<form class="stack" onSubmit=${submit}>
    <${Field} label="Name" hint="Who or what uses it, for example “laptop”." value=${grant.name} onInput=${set("name")} required autocomplete="off" data-first />
    <${Choice} label="What it may do" options=${RIGHTS} value=${grant.rights} onChange=${set("rights")} />
    <${Field} label="Namespaces" hint=${`Comma-separated; * for all. There are: ${known ?? "shared"}.`} value=${grant.namespaces} onInput=${set("namespaces")} autocomplete="off" spellcheck="false" />
    <${Choice} label="It ends" options=${TIMES} value=${grant.days} onChange=${set("days")} />
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <div class="dialog-foot">
      <${Button} onClick=${onClose}>Cancel<//>
      <${Button} type="submit" look="main" disabled=${!grant.name.trim()}>Make the token<//>
    </div>
  </form>`;
}

function documentOf({ name, rights, namespaces, days }) {
  const names = namespaces.split(",").map((one) => one.trim()).filter(Boolean);
  return {
    name: name.trim(),
    rights: rights.split(","),
    ...(names.length ? { namespaces: names } : {}),
    ...(days ? { expires_at: Date.now() / 1000 + Number(days) * DAY_SECONDS } : {}),
  };
}

function Shown({ token, onClose }) {
  const field = useRef(null);
  const copy = async () => {
    field.current.select();
    try {
      await navigator.clipboard.writeText(token.token);
      tell("Copied.");
    } catch {
      tell("It is selected: copy it with Ctrl+C.");
    }
  };
  return html`<div class="stack">
    <${Notice} icon="key">Keep it in a safe place now: it cannot be shown again.<//>
    <div class="token-shown">
      <${Field} label=${`Token of “${token.name}”`} value=${token.token} readonly class="input mono" inputRef=${field} onFocus=${(event) => event.currentTarget.select()} />
      <${Button} icon="copy" onClick=${copy} data-first>Copy<//>
    </div>
    <p class="soft">Lore on another machine reads it from the variable <code>LORE_TOKEN</code>; any other client sends it as <code>Authorization: Bearer …</code></p>
    <div class="dialog-foot"><${Button} look="main" onClick=${onClose}>I have kept it<//></div>
  </div>`;
}
