// field: labelled inputs. Each tells its hint and its problem to screen readers.
import { html } from "htm/preact";
import { useId } from "preact/hooks";

/** A text field; `lines` makes it a text area. onInput gets the text. */
export function Field({ label, hint, problem, lines, onInput, inputRef, ...rest }) {
  const id = useId();
  const about = problem || hint ? `${id}-about` : undefined;
  const shared = {
    id,
    ref: inputRef,
    class: "input",
    "aria-describedby": about,
    "aria-invalid": problem ? "true" : undefined,
    onInput: (event) => onInput?.(event.currentTarget.value),
    ...rest,
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${lines ? html`<textarea rows=${lines} ...${shared} />` : html`<input type="text" ...${shared} />`}
    ${(problem || hint) && html`<span id=${about} class=${problem ? "problem" : "hint"}>${problem || hint}</span>`}
  </div>`;
}

/** A choice from a list of [value, text]. */
export function Choice({ label, options, value, onChange, hint }) {
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select id=${id} class="input" value=${value} onChange=${(event) => onChange(event.currentTarget.value)}>
      ${options.map(([one, text]) => html`<option key=${one} value=${one}>${text}</option>`)}
    </select>
    ${hint && html`<span class="hint">${hint}</span>`}
  </div>`;
}

export function Check({ label, checked, onChange, ...rest }) {
  return html`<label class="check">
    <input type="checkbox" checked=${checked} onChange=${(event) => onChange(event.currentTarget.checked)} ...${rest} />
    <span>${label}</span>
  </label>`;
}

/** A number from 0 to 1 with a slider; the text says what the value means. */
export function Slider({ label, value, onInput, text, ...rest }) {
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${label}: <output for=${id}>${text}</output></label>
    <input
      id=${id} type="range" min="0" max="1" step="0.05" value=${value} aria-valuetext=${text}
      onInput=${(event) => onInput(Number(event.currentTarget.value))} ...${rest}
    />
  </div>`;
}
