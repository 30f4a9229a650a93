/** Reports an error as the host reports errors of event listeners. */
export function reportUncaught(error: unknown): void {
  if (typeof reportError === 'function') {
    reportError(error);
    return;
  }
  // Node has no `reportError`; throwing in a timer makes it an uncaught error there too.
  setTimeout(() => {
    throw error;
  });
}
