/** Which types models take, and which files they get as texts. A type that a model refuses fails each later turn. */
import { charsetOf, essenceOf } from '../../values/model/values/media_type.js';

/** The types that the declarations of `@google/genai` and Vertex AI name, by their kind. */
const SUBTYPES: Readonly<Record<string, string>> = {
  image: 'png jpeg webp heic heif',
  audio: 'wav mp3 mpeg mpga aac ogg opus flac aiff m4a mp4 l16 pcm webm',
  video: 'mp4 mpeg mpg mov avi x-flv webm wmv 3gpp',
  application: 'pdf',
};

/** Other names of these types, most of which browsers give to files. */
const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'application/ogg': 'audio/ogg',
  'audio/x-aac': 'audio/aac',
  'audio/x-aiff': 'audio/aiff',
  'audio/x-flac': 'audio/flac',
  'audio/x-m4a': 'audio/m4a',
  'audio/x-wav': 'audio/wav',
  'video/flv': 'video/x-flv',
  'video/quicktime': 'video/mov',
  'video/x-ms-wmv': 'video/wmv',
  'video/x-msvideo': 'video/avi',
};

const TYPES = new Map([
  ...Object.entries(SUBTYPES).flatMap(([kind, subtypes]) =>
    subtypes.split(' ').map((subtype) => [`${kind}/${subtype}`, `${kind}/${subtype}`] as const),
  ),
  ...Object.entries(ALIASES),
]);

/** Returns the type under which a model takes bytes; `undefined` if it takes none of the type. */
export function modelTypeOf(mimeType = ''): string | undefined {
  const type = TYPES.get(essenceOf(mimeType));
  // The rate of raw samples is nowhere else.
  const parameters = type === 'audio/l16' ? /;.*$/s.exec(mimeType)?.[0] : undefined;
  return type && type + (parameters ?? '');
}

/** Whether a type promises a text. */
export function isTextType(mimeType: string): boolean {
  return /^text\/|^application\/(csv|json|xml)$/.test(essenceOf(mimeType));
}

/**
 * Returns the text that bytes are in the charset of their type, by default UTF-8; `undefined` if they are none, or empty.
 *
 * @param isWhole `false`: the last character may be cut
 */
export function textIn(bytes: Uint8Array, mimeType: string, isWhole = true): string | undefined {
  let text;
  try {
    text = decoderOf(charsetOf(mimeType)).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
  return text === '' || text.includes('\0') ? undefined : text;
}

/** The writer of a type may name any charset. */
function decoderOf(charset = 'utf-8'): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return new TextDecoder('utf-8', { fatal: true });
  }
}
