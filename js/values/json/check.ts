/**
 * The fast check: may native `JSON.stringify` print a value as it is?
 *
 * Nearly every value passes, and then one native call does all the work. So the check finds no
 * path, no cycle and no reason. Whatever it does not know it calls `'special'`. The writer in
 * `write.ts`, ten times slower, then prints the value or reports what is wrong.
 *
 * The walk uses a stack of its own. A recursive function is no faster (measured), and it would
 * overflow if it is called near the end of the stack.
 */
import { isWellFormed } from './text.js';
import { isPlainObject, MAX_EVENT_LEVELS, MAX_STATE_LEVELS, MAX_VALUES } from './rules.js';

/**
 * - `'plain'`: `JSON.stringify` prints the right text.
 * - `'special'`: it may not; use the writer.
 * - `'too large'`: more than {@link MAX_VALUES} values; printing them would take gigabytes.
 */
export type Verdict = 'plain' | 'special' | 'too large';

// One stack for all calls, since making one takes as long as the walk. Popped entries are cleared,
// so that the stack keeps no event alive.
const sharedNodes: (object | undefined)[] = [];
const sharedLevels: number[] = [];
/**
 * Whether the shared stack is in use. A getter may call us again; that call gets a stack of its
 * own.
 */
let isStackInUse = false;
/** A longer stack is released. */
const MAX_KEPT_LENGTH = 1024;

/** The rules by which a walk stops. */
interface Rules {
  readonly maxLevels: number;
  /** Whether `JSON.stringify` prints a value that is not an object. */
  readonly isPlainLeaf: (value: unknown) => boolean;
  /** The same for an object that is not an array, without its members. */
  readonly isPlainNode: (node: object) => boolean;
  readonly isPlainKey: (key: string) => boolean;
}

function runWalk(root: object, rules: Rules): Verdict {
  const isNested = isStackInUse;
  isStackInUse = true;
  let verdict: Verdict = 'special';
  try {
    verdict = isNested ? walk(root, rules, [], []) : walk(root, rules, sharedNodes, sharedLevels);
  } catch {
    // The writer throws the error again, with the path.
  }
  if (isNested) return verdict;
  isStackInUse = false;
  if (verdict !== 'plain' || sharedNodes.length > MAX_KEPT_LENGTH) sharedNodes.length = 0;
  return verdict;
}

/**
 * Checks one state value. `'plain'` also means that the value may be kept beside its text: parsing
 * the text would give an equal value (no undefined member, no −0).
 *
 * Never throws: a value whose getter or proxy throws is `'special'`.
 */
export function checkState(value: unknown): Verdict {
  if (typeof value !== 'object') return isStateLeaf(value) ? 'plain' : 'special';
  return value === null ? 'plain' : runWalk(value, STATE_RULES);
}

/**
 * Checks an event's fields. `'plain'` means that `JSON.stringify` prints them by the event rules,
 * except for lone surrogates, which are replaced in the text afterwards.
 *
 * Never throws.
 */
export function checkEvent(event: object): Verdict {
  return runWalk(event, EVENT_RULES);
}

const STATE_RULES: Rules = {
  maxLevels: MAX_STATE_LEVELS,
  isPlainLeaf: isStateLeaf,
  isPlainNode: isPlainObject,
  isPlainKey: isWellFormed,
};

const EVENT_RULES: Rules = {
  maxLevels: MAX_EVENT_LEVELS,
  isPlainLeaf: (value) => typeof value !== 'bigint' && typeof value !== 'function',
  // `for…in` would make a string for every index: gigabytes for the bytes of a video.
  isPlainNode: (node) => !ArrayBuffer.isView(node),
  isPlainKey: () => true,
};

/** Returns whether a state value that is not an object stays the same in JSON. */
function isStateLeaf(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return isWellFormed(value);
    case 'number':
      // `value - value` is NaN for NaN and infinities; `1 / -0` is negative.
      return value - value === 0 && (value !== 0 || 1 / value > 0);
    case 'boolean':
      return true;
    default:
      return false;
  }
}

/**
 * Visits the members of an object first, then its siblings: a cycle has no end, so the depth limit
 * finds it.
 *
 * Uses `for…in`, because `Object.keys` allocates and is 1.7 times slower. `for…in` also visits
 * inherited members, so each key needs a check. The check stands here in full, because only then V8
 * knows that the loop itself answers it. A helper function doubles the time of the walk.
 */
function walk(
  root: object,
  { maxLevels, isPlainLeaf, isPlainNode, isPlainKey }: Rules,
  nodes: (object | undefined)[],
  levels: number[],
): Verdict {
  nodes[0] = root;
  levels[0] = 1;
  let top = 0;
  let count = 0;
  while (top >= 0) {
    const node = nodes[top] as Record<string, unknown>;
    const level = levels[top]!;
    nodes[top--] = undefined;
    if (level > maxLevels || node.toJSON !== undefined) return 'special';
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
    if (!isPlainNode(node)) return 'special';
    for (const key in node) {
      if (!Object.prototype.hasOwnProperty.call(node, key)) continue;
      if (++count > MAX_VALUES) return 'too large';
      if (!isPlainKey(key)) return 'special';
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
