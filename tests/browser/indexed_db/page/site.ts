// What pages tell the test's server; see ../site.ts.

/**
 * Tells the server before anything else happens in this page. A page that dies in the middle of it has told the
 * truth nevertheless: what it acknowledges is so already.
 */
export function acknowledge(what: string): void {
  const request = new XMLHttpRequest();
  request.open('POST', '/acknowledge', false);
  request.send(what);
}
