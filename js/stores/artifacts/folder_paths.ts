/** Where google-adk's `FileArtifactService` (2.13) has the files of an owner, and which ids and names fit there. */
import { fitsUtf8 } from '../../values/json/text.js';
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import type { SessionError } from '../../values/errors/errors.js';
import type { ErasedOwner } from './artifact_home.js';
import type { FileOwner, FilePlace } from './artifact_names.js';
import { listed, type Node, REMOVAL } from './node_files.js';

/** The folder in the root for bytes that are being put. */
export const PUTS = '.puts';

const RESERVED = ['apps', 'users', 'sessions', 'artifacts', 'versions'];

/** The most bytes of UTF-8 in the name of a file or a folder. */
const MAX_PART_BYTES = 255;

const UNFIT =
  'must be a path, as google-adk has it: not blank, without a slash or a drive at its beginning, an empty part, ".", "..", ' +
  `a part of more than ${MAX_PART_BYTES} bytes, and without a word of the tree beside a slash`;

const UNFIT_WINDOWS =
  'must be a path on Windows: without <>:"|?*\\, a dot or a blank at the end of a part, and a part such as "CON"';

/** The paths in a folder of files. */
export class FolderPaths {
  readonly root: string;
  /** The folder of all files. */
  readonly apps: string;
  readonly #node: Node;
  /**
   * Whether the file system decomposes the accents of names, as HFS+ does: the entry of a name then differs from the name.
   * Known once something was to be changed: finding out writes.
   */
  #decomposes: boolean | undefined;

  constructor(folder: string, node: Node) {
    this.#node = node;
    this.root = node.path.resolve(folder);
    this.apps = node.path.join(this.root, 'apps');
  }

  /** Returns the folder of a file; `undefined` if the file system or google-adk refuses an id or the name. */
  ofFile({ owner, name }: FilePlace): string | undefined {
    const scope = this.ofOwner(owner);
    const parts = name.split('/');
    if (scope === undefined || (this.#node.isWindows && !parts.every(isWindowsPart))) {
      return undefined;
    }
    return this.#node.path.join(scope, ...parts);
  }

  /** Returns the folder of the files of an owner; `undefined` if an id is refused. */
  ofOwner({ sessionId, ...user }: FileOwner): string | undefined {
    const folder = this.#ofUser(user);
    if (folder === undefined || sessionId === undefined) {
      return folder && this.#node.path.join(folder, 'artifacts');
    }
    if (!this.#isPathId(sessionId)) return undefined;
    return this.#node.path.join(folder, 'sessions', sessionId, 'artifacts');
  }

  /** Returns the folders of a session, or of a user: not that of the user, which may hold another user's with a slash. */
  ofErased({ appName, userId, sessionId }: ErasedOwner): string[] {
    const folder = this.ofOwner({ appName, userId, sessionId });
    if (folder === undefined) return [];
    const { path } = this.#node;
    return sessionId === undefined
      ? [folder, path.join(path.dirname(folder), 'sessions')]
      : [folder];
  }

  #ofUser({ appName, userId }: Pick<FileOwner, 'appName' | 'userId'>): string | undefined {
    if (!this.#isPathId(appName) || !this.#isPathId(userId)) return undefined;
    return this.#node.path.join(this.apps, appName, 'users', userId);
  }

  #isPathId(id: string): boolean {
    return isPathId(id) && (!this.#node.isWindows || id.split('/').every(isWindowsPart));
  }

  /** Names what changes one after the other in this program: the files of a user, however its name is written. */
  queueOf({ appName, userId }: Pick<FileOwner, 'appName' | 'userId'>): string {
    return folded(this.#ofUser({ appName, userId }) ?? this.root);
  }

  /** Returns the error for a file that cannot be in the folder. */
  unfitError({ owner, name }: FilePlace): SessionError {
    const { appName, userId, sessionId } = owner;
    const ids = Object.entries({ appName, userId, ...(sessionId !== undefined && { sessionId }) });
    const [id] = ids.filter(([, value]) => !isPathId(value));
    if (id !== undefined) return invalidValue(id[0], UNFIT, id[1]);
    const [part = 'filename'] = ids.find(([, value]) => !this.#isPathId(value)) ?? [];
    return invalidValue(part, UNFIT_WINDOWS, { ...owner, filename: name }[part]);
  }

  /**
   * @param scope the folder of the owner of a file: the clash of a part below is one of the file's name
   * @throws SessionError `invalid_argument` if the file system takes a path for that of another name
   */
  async requireNoClash(folder: string, scope = folder): Promise<void> {
    const clash = await this.findNameClash(folder, true);
    if (clash === undefined) return;
    const own = JSON.stringify(this.#node.path.relative(this.root, clash));
    const key = clash.length > scope.length ? 'filename' : 'The key';
    const rule = `has a name that the file system takes for another one: ${own} is there under another name`;
    throw invalid(key, rule);
  }

  /**
   * Finds a part of a path that the file system takes for another name which is there: one that differs in upper and
   * lower case, or in how its accents are written.
   *
   * @param mayWrite whether something is to be changed there. Otherwise the folder may be read-only
   * @returns the path up to this part
   */
  async findNameClash(folder: string, mayWrite: boolean): Promise<string | undefined> {
    const { path } = this.#node;
    if (mayWrite && !isAscii(folder)) this.#decomposes ??= await this.#probe();
    // The folder is `apps`. Listing the folders of all users and sessions takes long.
    const foldsCase = await this.#isThere(path.join(this.root, 'APPS'));
    let parent = this.root;
    for (const name of path.relative(this.root, folder).split(path.sep)) {
      const own = path.join(parent, name);
      const isOther = async (): Promise<boolean> =>
        !(await this.#isListed(parent, name)) && (await this.#isThere(own));
      // Another program may create it between the two looks of the first time.
      if ((foldsCase || !isAscii(name)) && (await isOther()) && (await isOther())) return own;
      parent = own;
    }
    return undefined;
  }

  /** Whether a folder has an entry of the name. */
  async #isListed(folder: string, name: string): Promise<boolean> {
    const names = await listed(this.#node.fs.readdir(folder));
    // Until it is known, an entry with decomposed accents counts as the own one of a name.
    const isOwn = (entry: string): boolean =>
      entry === name ||
      (this.#decomposes !== false &&
        entry !== composed(entry) &&
        composed(entry) === composed(name));
    return names.some(isOwn);
  }

  async #isThere(file: string): Promise<boolean> {
    const stats = await this.#node.fs.stat(file).catch(() => undefined);
    return stats !== undefined;
  }

  /** Returns whether the file system decomposes the accents of names. */
  async #probe(): Promise<boolean> {
    const { fs, path } = this.#node;
    const puts = path.join(this.root, PUTS);
    await fs.mkdir(puts, { recursive: true });
    const folder = await fs.mkdtemp(path.join(puts, 'probe-'));
    try {
      await fs.mkdir(path.join(folder, 'caf\u00e9'));
      return (await fs.readdir(folder)).includes('cafe\u0301');
    } finally {
      await fs.rm(folder, REMOVAL);
    }
  }
}

/** Writes a name without upper and lower case, and its accents in one way. */
function folded(name: string): string {
  return composed(composed(name).toLowerCase().toUpperCase());
}

function composed(name: string): string {
  return name.normalize('NFC');
}

function isAscii(text: string): boolean {
  return !/[^ -~]/.test(text);
}

/** Whether google-adk's `validate_path_segment` accepts an id, which may have slashes, and a file system its parts. */
function isPathId(id: string): boolean {
  if (id.trim() === '' || /^[/\\]|^[a-z]:|\0/i.test(id)) return false;
  const parts = id.split(/[/\\]/).map((part) => part.toLowerCase());
  // Without these parts, the path would be that of another id.
  if (['', '.', '..'].some((part) => parts.includes(part))) return false;
  if (!id.split('/').every((part) => fitsUtf8(part, MAX_PART_BYTES))) return false;
  return parts.length === 1 || !parts.some((part) => RESERVED.includes(part));
}

/** Whether Windows takes a part of a path as it is. */
function isWindowsPart(part: string): boolean {
  if (/[<>:"|?*\\\p{Cc}]|[ .]$/u.test(part)) return false;
  return !/^(con|prn|aux|nul|(com|lpt)[\d¹²³]) *(\.|$)/i.test(part);
}
