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
  pageElement('p', 'problem').textContent = error instanceof Error ? error.message : String(error);
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
