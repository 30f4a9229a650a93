import { errorText } from 'adk-session-wasm/live';

/** Makes an element with members and children. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  members: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), members);
  made.append(...children);
  return made;
}

/** Shows the page's user what was thrown. */
export function report(error: unknown): void {
  pageElement('p', 'problem').textContent = errorText(error);
}

/** Returns an element of the page. */
export function pageElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  id: string,
): HTMLElementTagNameMap[Name] {
  const found = document.querySelector<HTMLElementTagNameMap[Name]>(`${name}#${id}`);
  if (found === null) throw new Error(`the page has no ${name} ${id}`);
  return found;
}

/** Makes a button whose sign comes from the style sheet. */
export function iconButton(
  className: string,
  label: string,
  onclick: () => void,
): HTMLButtonElement {
  const members = { type: 'button', ariaLabel: label, title: label, onclick } as const;
  return element('button', { className: `icon ${className}`, ...members });
}

/** Gives an element these children. Those that stay are not moved, so that the focused one keeps the focus. */
export function setChildren(parent: Element, children: readonly Element[]): void {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    if (parent.children[index] !== child)
      parent.insertBefore(child, parent.children[index] ?? null);
  });
}
