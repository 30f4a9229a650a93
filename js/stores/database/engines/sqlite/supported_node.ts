import { SessionError } from '../../../../values/errors/errors.js';
import { loadOptional } from '../../../../core/wasm/loader/optional_package.js';
import type { Engine } from '../../engine/engine.js';

interface NodeModule {
  readonly createRequire: (from: string) => (path: string) => unknown;
}

/** The members of a package's `package.json` that are compared. */
interface Manifest {
  readonly version: string;
  readonly engines?: { readonly node?: string };
}

/**
 * Compares the `engines.node` of a native driver with this Node, before the driver is loaded. npm only warns of a
 * difference, and a call of such a driver may end the program without an error: better-sqlite3 13 does on Node 20.
 *
 * @throws SessionError `unsupported` with the version that the driver needs
 */
export async function requireSupportedNode({ kind, driver }: Engine): Promise<void> {
  const manifest = await manifestOf(driver);
  const needed = lowestMajorOf(manifest?.engines?.node);
  const running = majorOf(process.versions.node);
  if (manifest === undefined || needed === undefined || running >= needed) return;
  const message =
    `${driver} ${manifest.version} needs Node ${needed}, and this is Node ${process.versions.node}; ` +
    `update Node, or install a version of ${driver} for Node ${running}, such as the major version before.`;
  throw new SessionError('unsupported', message, { storage: kind });
}

/** Returns `undefined` if the package is not installed, or if this is not Node. */
async function manifestOf(name: string): Promise<Manifest | undefined> {
  const module = await loadOptional<NodeModule>('node:module');
  try {
    return module?.createRequire(import.meta.url)(`${name}/package.json`) as Manifest | undefined;
  } catch {
    // Loading the driver itself says what is missing.
    return undefined;
  }
}

/** Returns the lowest major version that a range such as `20.x || >=22.12` admits. Upper bounds do not count. */
export function lowestMajorOf(range = ''): number | undefined {
  const versions = range.replace(/<=?\s*[\w.-]+/g, '').match(/\d+(?:\.\w+)*/g);
  return versions === null ? undefined : Math.min(...versions.map(majorOf));
}

function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}
