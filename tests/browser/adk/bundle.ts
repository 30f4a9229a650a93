// A page's script with the real @google/adk in it.

import { type BuildOptions, build, type BuildResult } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';
import { frameworkRepair } from './framework_repair.js';

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  // The framework looks there at each call of a model; a page has no environment.
  define: { 'process.env': '{}' },
  metafile: true,
  write: false,
  logLevel: 'silent',
} satisfies BuildOptions;

export interface Bundle {
  code: string;
  /** Whether the framework was taken as it is published, or could not be. */
  isRepaired: boolean;
  /** The files in it, by their paths from the repository. */
  files: string[];
}

/**
 * Bundles a page. The framework's browser build is taken as published if that bundles, whatever its version says of
 * itself, and else repaired.
 */
export async function bundlePage(entry: string): Promise<Bundle> {
  const options = { ...OPTIONS, entryPoints: [entry] };
  try {
    return bundleOf(await build(options), false);
  } catch {
    // If it is not the framework that fails, this does too, and says why.
    return bundleOf(await build({ ...options, plugins: [frameworkRepair] }), true);
  }
}

function bundleOf(
  { outputFiles, metafile }: BuildResult<typeof OPTIONS>,
  isRepaired: boolean,
): Bundle {
  return { code: outputFiles[0]!.text, isRepaired, files: Object.keys(metafile.inputs) };
}
