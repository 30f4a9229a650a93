/**
 * The fast look at a value: may native `JSON.stringify` have it as it is?
 *
 * Nearly every value may, and then one call of the native function is all there is to do. So the
 * look finds no path, no cycle and no reason; whatever it does not know it calls `'special'`, and
 * `write.ts`, which is ten times slower, says what is wrong or does it by the rules.
 *
 * It walks with a stack of its own. A recursive function is no faster (measured), and one that is
 * called near the end of the engine's stack would overflow.
 */
import { isWellFormed } from './text.js';
import { MAX_EVENT_LEVELS, MAX_STATE_LEVELS, MAX_VALUES } from './rules.js';

/**
 * - `'plain'`: `JSON.stringify` gives the right text.
 * - `'special'`: it may not; use the writer.
 * - `'too large'`: more than {@link MAX_VALUES}; printing it would take gigabytes.
 */
export type Verdict = 'plain' | 'special' | 'too large';

// One stack for all calls, since making one takes as long as the walk. What is popped is blanked, so
// that it holds on to nobody's event.
const sharedNodes: (object | undefined)[] = [];
const sharedLevels: number[] = [];
/** A getter that is met on the way may call us again: that call gets a stack of its own. */
let inUse = false;
/** A longer stack is given back to the engine. */
const KEPT_LENGTH = 1024;

type Walk = (root: object, nodes: (object | undefined)[], levels: number[]) => Verdict;

function run(walk: Walk, root: object): Verdict {
  const nested = inUse;
  inUse = true;
  let verdict: Verdict = 'special';
  try {
    verdict = nested ? walk(root, [], []) : walk(root, sharedNodes, sharedLevels);
  } catch {
    // What threw is for the writer to find again, which knows the path.
  }
  if (nested) return verdict;
  inUse = false;
  if (verdict !== 'plain' || sharedNodes.length > KEPT_LENGTH) sharedNodes.length = 0;
  return verdict;
}

/**
 * Looks at one state value. `'plain'` also means that it may be kept as it is beside its text:
 * parsing the text would give an equal value (no member is undefined, no number is −0).
 *
 * Never throws: a getter or proxy that does makes it `'special'`.
 *
 * @example
 * ```ts
 * checkState({ items: [1, 2] }); // 'plain'
 * checkState({ when: new Date() }); // 'special': has toJSON
 * ```
 */
export function checkState(value: unknown): Verdict {
  if (typeof value !== 'object') return isPlainLeaf(value) ? 'plain' : 'special';
  return value === null ? 'plain' : run(walkState, value);
}

/**
 * Looks at an event's fields. `'plain'`: `JSON.stringify` gives text by the event rules, but for lone
 * surrogates, which are mended in the text.
 *
 * Never throws.
 *
 * @example
 * ```ts
 * checkEvent({ id: 'e1', content: undefined }); // 'plain'
 * checkEvent({ id: 'e1', output: 1n }); // 'special'
 * ```
 */
export function checkEvent(event: object): Verdict {
  return run(walkEvent, event);
}

/** Whether a state value that is no object stays what it is. */
function isPlainLeaf(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return isWellFormed(value);
    case 'number':
      // Neither NaN nor an infinity gives 0 here, and 1/−0 is negative.
      return value - value === 0 && (value !== 0 || 1 / value > 0);
    case 'boolean':
      return true;
    default:
      return false;
  }
}

// The two walks are one algorithm, written twice: with the rules as a parameter it takes half as
// long again, since each step then asks which rules hold.
//
// A cycle has no end, so it is found by its depth: the walk goes down first, and what lies beside is
// only looked at on the way back. `for…in` and not `Object.keys`, which allocates (1.7 times slower);
// the price is inherited members. The question for them is spelled out each time: only so does V8 know
// that it is answered by the loop itself; behind a name of ours it doubles the time of the walk.

function walkState(root: object, nodes: (object | undefined)[], levels: number[]): Verdict {
  nodes[0] = root;
  levels[0] = 1;
  let top = 0;
  let count = 0;
  while (top >= 0) {
    const node = nodes[top] as Record<string, unknown>;
    const level = levels[top]!;
    nodes[top--] = undefined;
    if (level > MAX_STATE_LEVELS || node.toJSON !== undefined) return 'special';
    if (Array.isArray(node)) {
      const { length } = node as readonly unknown[];
      count += length;
      if (count > MAX_VALUES) return 'too large';
      for (let index = 0; index < length; index++) {
        const value: unknown = node[index];
        if (typeof value === 'object') {
          if (value === null) continue;
          top++;
          nodes[top] = value;
          levels[top] = level + 1;
        } else if (!isPlainLeaf(value)) return 'special';
      }
      continue;
    }
    const prototype: unknown = Object.getPrototypeOf(node);
    if (
      prototype !== Object.prototype &&
      prototype !== null &&
      Object.getPrototypeOf(prototype) !== null
    ) {
      return 'special';
    }
    for (const key in node) {
      if (!Object.prototype.hasOwnProperty.call(node, key)) continue;
      if (++count > MAX_VALUES) return 'too large';
      if (!isWellFormed(key)) return 'special';
      const value = node[key];
      if (typeof value === 'object') {
        if (value === null) continue;
        top++;
        nodes[top] = value;
        levels[top] = level + 1;
      } else if (!isPlainLeaf(value)) return 'special';
    }
  }
  return 'plain';
}

function walkEvent(root: object, nodes: (object | undefined)[], levels: number[]): Verdict {
  nodes[0] = root;
  levels[0] = 1;
  let top = 0;
  let count = 0;
  while (top >= 0) {
    const node = nodes[top] as Record<string, unknown>;
    const level = levels[top]!;
    nodes[top--] = undefined;
    if (level > MAX_EVENT_LEVELS || node.toJSON !== undefined) return 'special';
    if (Array.isArray(node)) {
      const { length } = node as readonly unknown[];
      count += length;
      if (count > MAX_VALUES) return 'too large';
      for (let index = 0; index < length; index++) {
        const value: unknown = node[index];
        if (typeof value === 'object') {
          if (value === null) continue;
          top++;
          nodes[top] = value;
          levels[top] = level + 1;
        } else if (typeof value === 'bigint' || typeof value === 'function') return 'special';
      }
      continue;
    }
    // for…in would first make a string of every index, gigabytes for the bytes of a video.
    if (ArrayBuffer.isView(node)) return 'special';
    for (const key in node) {
      if (!Object.prototype.hasOwnProperty.call(node, key)) continue;
      if (++count > MAX_VALUES) return 'too large';
      const value = node[key];
      if (typeof value === 'object') {
        if (value === null) continue;
        top++;
        nodes[top] = value;
        levels[top] = level + 1;
      } else if (typeof value === 'bigint' || typeof value === 'function') return 'special';
    }
  }
  return 'plain';
}
