// What pages tell the test's server, and what they wait for there; see ../site.ts.

/**
 * Tells the server before anything else happens in this page. A page that dies in the middle of it has told the
 * truth nevertheless: what it acknowledges is so already.
 */
export function acknowledge(what: string): void {
  const request = new XMLHttpRequest();
  request.open('POST', '/acknowledge', false);
  request.send(what);
}

/** Waits until two pages are at this point. */
export async function meet(point: string): Promise<void> {
  await fetch(`/meet?point=${encodeURIComponent(point)}`, { method: 'POST' });
}
