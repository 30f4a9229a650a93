// A page's script with the real @google/adk in it.

import { type BuildOptions, build, type BuildResult } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';
import { frameworkRepair } from '../../../examples/playground/framework/framework_repair.js';

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  // The framework reads the environment at each call of a model. A page has none.
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
 * Bundles a page with the framework's browser build as published, if that can be bundled, and otherwise with the
 * repaired build.
 */
export async function bundlePage(entry: string): Promise<Bundle> {
  const options = { ...OPTIONS, entryPoints: [entry] };
  try {
    return bundleOf(await build(options), false);
  } catch {
    // If the failure has another cause than the framework, this fails too, with the reason.
    return bundleOf(await build({ ...options, plugins: [frameworkRepair] }), true);
  }
}

function bundleOf(
  { outputFiles, metafile }: BuildResult<typeof OPTIONS>,
  isRepaired: boolean,
): Bundle {
  return { code: outputFiles[0]!.text, isRepaired, files: Object.keys(metafile.inputs) };
}
