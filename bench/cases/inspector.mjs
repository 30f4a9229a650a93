// The inspector scrolls a session of 100,000 events in Chromium.

import { withPages } from '../browser/pages.mjs';

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default function inspector() {
  return withPages('chromium', (run) => run('scrolling'));
}
