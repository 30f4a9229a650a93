/** What we keep of a file where others have no place for it: in a member of its custom metadata. */
import type { FileFacts } from './artifact_home.js';

const OWN = 'adk_session_wasm';

/** Members that a home adds where its own records lack them. */
export interface OwnFacts {
  readonly author?: string | undefined;
  readonly id?: string | undefined;
  readonly hash?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly displayName?: string | undefined;
}

/** Returns the metadata of a file together with what only we know of it; `undefined` if there is neither. */
export function withOwnFacts(
  { customMetadata, author, id }: FileFacts,
  added: Omit<OwnFacts, 'author' | 'id'>,
): Record<string, unknown> | undefined {
  const own: OwnFacts = { author, id, ...added };
  if (Object.values(own).every((value) => value === undefined)) return customMetadata;
  return { ...customMetadata, [OWN]: own };
}

/** Takes the metadata apart again. Others may have written anything. */
export function ownFactsOf(
  stored: Record<string, unknown> | undefined,
): OwnFacts & Pick<FileFacts, 'customMetadata'> {
  const { [OWN]: own, ...customMetadata } = stored ?? {};
  const facts = Object(own) as Readonly<Record<string, unknown>>;
  return {
    author: textOf(facts.author),
    id: textOf(facts.id),
    // It is a tag of a response. A line break would fail there.
    hash: /^[\da-f]{64}$/.test(textOf(facts.hash) ?? '') ? textOf(facts.hash) : undefined,
    mimeType: textOf(facts.mimeType),
    displayName: textOf(facts.displayName),
    customMetadata: Object.keys(customMetadata).length === 0 ? undefined : customMetadata,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
