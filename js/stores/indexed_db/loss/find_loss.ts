import type { DataLoss } from '../../../values/model/storage_info.js';
import type { Marker } from './marker.js';

/**
 * Returns the loss of what is not in IndexedDB. Without a message of the browser, the marker decides.
 *
 * @param stored names what is not there, in a sentence
 * @param message Chromium's message about the loss
 */
export async function findLoss(
  marker: Marker,
  stored: string,
  message = '',
): Promise<DataLoss | undefined> {
  if (message === '' && !(await marker.isSet())) return undefined;
  const reason = message === '' ? 'it was there before and is not any more' : message;
  return {
    when: Date.now(),
    message: `The browser gave up ${stored} with everything in it: ${reason}.`,
  };
}
