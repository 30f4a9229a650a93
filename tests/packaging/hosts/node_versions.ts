// Node, in the versions that are supported: as a module and from CommonJS.

import { assertOutcome, consumer, type Outcome } from '../consumer.js';
import { write } from '../installed.js';
import { type Host, NODE_VERSIONS, nodeBinary, runQuietly } from './host.js';

const PROGRAMS = {
  ESM: {
    file: 'main.mjs',
    main: `${consumer()}\nconsole.log(JSON.stringify(await globalThis.report));`,
  },
  CommonJS: {
    file: 'main.cjs',
    main: `${consumer().replace(/import (.*) from (.*);/, 'const $1 = require($2);')}
globalThis.report.then((outcome) => console.log(JSON.stringify(outcome)));`,
  },
};

export const NODES: readonly Host[] = NODE_VERSIONS.flatMap((version) =>
  Object.entries(PROGRAMS).map(([kind, { file, main }]) => ({
    name: `Node ${version}, ${kind}`,
    async check() {
      const folder = write(`node-${version}-${kind}`, { [file]: main });
      const printed = await runQuietly(nodeBinary(version), [file], folder);
      assertOutcome(JSON.parse(printed) as Outcome);
      return undefined;
    },
  })),
);
