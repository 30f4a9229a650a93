/** The schemas of the requests and responses for files, which the OpenAPI document has. */
import { listOf, OBJECT, objectOf, type Schema, TEXT, WHOLE } from '../../stores/http/schema.js';

const TIME: Schema = {
  type: 'number',
  description: 'Milliseconds since 1970. Without the header adk-session-protocol, seconds.',
};
const FACTS = { displayName: TEXT, customMetadata: OBJECT, author: TEXT };

const VERSION = objectOf(
  { version: WHOLE },
  { ...FACTS, mimeType: TEXT, canonicalUri: TEXT, size: WHOLE, hash: TEXT, createTime: TIME },
);

export const ARTIFACT_RESPONSES = {
  Artifact: OBJECT,
  ArtifactNames: listOf(TEXT),
  ArtifactNumbers: listOf(WHOLE),
  ArtifactVersion: VERSION,
  ArtifactVersions: listOf(VERSION),
  ArtifactUsage: objectOf({ versions: WHOLE, bytes: WHOLE }),
} as const;

/** The body that saves a part of the ADK as a file. */
export const SAVE_ARTIFACT = objectOf(
  { filename: TEXT, artifact: OBJECT },
  { customMetadata: OBJECT, author: TEXT, id: TEXT },
);
