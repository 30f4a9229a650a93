// A member that one module forgets travels only half of its way, and no other test notices. So the compiler has to.

import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import { before, describe, it } from 'node:test';
import ts from 'typescript';

import { root } from '../toolchain/environment.mjs';

/** The modules that carry the members of requests and writes. */
const MODULES = [
  'js/core/storage/reads/cursors.ts',
  'js/server/routes/event_routes.ts',
  'js/server/routes/search_route.ts',
  'js/server/routes/session_routes.ts',
  'js/service/append/appender.ts',
  'js/service/read/session_filter.ts',
  'js/service/read/session_lists.ts',
  'js/service/search/find.ts',
  'js/stores/http/request_bodies.ts',
  'js/stores/remote/handler_store.ts',
  'js/stores/remote/write_request.ts',
];

/** By interface, its file, and the modules with an error for each place that lacks a new member. */
const CARRIED: Readonly<Record<string, readonly [file: string, errors: string]>> = {
  ListSessionsRequest: [
    'js/values/model/session_list.ts',
    'cursors handler_store handler_store session_filter session_lists session_lists session_routes',
  ],
  DeleteSessionsRequest: ['js/values/model/session_list.ts', 'session_routes'],
  GetSessionConfig: ['js/values/model/session.ts', 'handler_store session_routes'],
  PageRequest: ['js/core/read.ts', 'event_routes event_routes handler_store'],
  FindRequest: ['js/values/model/search.ts', 'find handler_store search_route'],
  AppendWrite: ['js/core/write.ts', 'appender appender event_routes request_bodies write_request'],
  CreateSessionRequest: [
    'js/values/model/session.ts',
    'request_bodies session_routes write_request',
  ],
};

/** Returns the sources of a file, with a new member in each interface that is checked. */
function withMembers(file: string, text: string): string {
  return Object.entries(CARRIED)
    .filter(([, [changed]]) => join(root, changed) === file)
    .reduce((changed, [name]) => {
      const [head] = new RegExp(`export interface ${name}\\b[^{]*\\{`).exec(changed) ?? [];
      assert.ok(head, name);
      return changed.replace(head, `${head}\n  readonly new${name}?: string | undefined;`);
    }, text);
}

describe('A new member does not compile without the modules that carry it', () => {
  let errors: readonly (readonly [module: string, message: string])[];
  before(() => {
    const { config } = ts.readConfigFile(join(root, 'js/tsconfig.json'), (file) =>
      ts.sys.readFile(file),
    ) as { config: object };
    const settings = { noEmit: true, skipLibCheck: true };
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, join(root, 'js'), settings);
    const host = ts.createCompilerHost(options);
    const readFile = host.readFile.bind(host);
    host.readFile = (file) => {
      const text = readFile(file);
      return text && withMembers(file, text);
    };
    const files = MODULES.map((file) => join(root, file));
    const program = ts.createProgram(files, options, host);
    errors = files
      .flatMap((file) => program.getSemanticDiagnostics(program.getSourceFile(file)))
      .map(({ file, messageText }) => [
        basename(file?.fileName ?? '', '.ts'),
        ts.flattenDiagnosticMessageText(messageText, '\n'),
      ]);
  });

  for (const [name, [, expected]] of Object.entries(CARRIED)) {
    it(`of ${name}`, () => {
      const ofMember = errors.filter(([, message]) => message.includes(`'new${name}'`));
      assert.equal(
        ofMember
          .map(([module]) => module)
          .sort()
          .join(' '),
        expected,
      );
    });
  }

  it('and nothing else is wrong with them', () => {
    const others = errors.filter(([, message]) => !/'new[A-Z]\w+'/.test(message));
    assert.deepEqual(others, []);
  });
});
