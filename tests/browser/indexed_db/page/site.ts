// Messages of pages to the test's server; see ../site.ts.

/**
 * Sends a message to the server synchronously. If the page is killed meanwhile, the message is still true, because it
 * reports only what has already happened.
 */
export function acknowledge(what: string): void {
  const request = new XMLHttpRequest();
  request.open('POST', '/acknowledge', false);
  request.send(what);
}
