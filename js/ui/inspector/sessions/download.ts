/** Lets the user save a text as a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // Browsers read the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Returns an id as a name of a file. */
export function safeName(id: string): string {
  return id.replace(/[^\w.-]+/g, '_').slice(0, 80);
}
