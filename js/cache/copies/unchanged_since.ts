import { parseLabels } from '../../model/description.js';

/** Returns what a session must have to be deleted as unchanged. */
export function unchangedSince(
  revision: number,
  labels: string | undefined,
): { readonly revision: number; readonly labels: string | undefined } {
  const hasLabels = Object.keys(parseLabels(labels ?? '')).length > 0;
  return { revision, labels: hasLabels ? labels : undefined };
}
