/** What we keep of a file where others have no place for it: in a member of its custom metadata. */
import { isPlainObject } from '../../values/json/rules.js';
import type { FileFacts } from './artifact_home.js';

const OWN = 'adk_session_wasm';

/** Members that a home adds where its own records lack them. */
export interface OwnFacts {
  readonly author?: string | undefined;
  readonly id?: string | undefined;
  readonly hash?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly displayName?: string | undefined;
  /** In bytes. */
  readonly size?: number | undefined;
  /** The number of the session that the file was stored for. */
  readonly created?: number | undefined;
}

/**
 * Returns the metadata of a file together with what only we know of it; `undefined` if there is neither.
 *
 * @param encode makes the value of the member
 */
export function withOwnFacts(
  { customMetadata, author, id }: FileFacts,
  added: Omit<OwnFacts, 'author' | 'id'>,
  encode: (own: OwnFacts) => unknown = (own) => own,
): Record<string, unknown> | undefined {
  const own: OwnFacts = { author, id, ...added };
  if (Object.values(own).every((value) => value === undefined)) return customMetadata;
  return { ...customMetadata, [OWN]: encode(own) };
}

/** Separates the metadata of a caller from what only we know. Others may have written anything. */
export function ownFactsOf(
  stored: Record<string, unknown> | undefined,
): OwnFacts & Pick<FileFacts, 'customMetadata'> {
  const { [OWN]: own, ...customMetadata } = stored ?? {};
  const facts = factsIn(own);
  return {
    author: textOf(facts.author),
    id: textOf(facts.id),
    // It is a tag of a response. A line break would fail there.
    hash: /^[\da-f]{64}$/.test(textOf(facts.hash) ?? '') ? textOf(facts.hash) : undefined,
    mimeType: textOf(facts.mimeType),
    displayName: textOf(facts.displayName),
    created: Number.isFinite(facts.created) ? (facts.created as number) : undefined,
    size: Number.isSafeInteger(facts.size) ? Math.max(0, facts.size as number) : undefined,
    customMetadata: Object.keys(customMetadata).length === 0 ? undefined : customMetadata,
  };
}

/** Takes the member: an object, or its JSON text. */
function factsIn(own: unknown): Readonly<Record<string, unknown>> {
  let facts = own;
  try {
    if (typeof own === 'string') facts = JSON.parse(own);
  } catch {
    // Others have written it.
  }
  return isPlainObject(facts) ? facts : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
