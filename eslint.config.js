import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

/** The examples that are whole programs. Their tests check their types as a user does, by their own tsconfig.json. */
const PROGRAMS = ['chat_node', 'next_app', 'plain_page', 'python_and_browser'];

export default tseslint.config(
  {
    ignores: [
      'pkg/',
      'target/',
      'js/dist/',
      'node_modules/',
      '**/.next/',
      'examples/*/dist/',
      // What uses assistant-ui is compiled with the types of its packages by its test.
      'tests/browser/assistant_ui/page/',
      'examples/assistant_ui/',
    ],
  },
  eslint.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { project: 'js/tsconfig.json' } },
    rules: {
      // `${number}` says what it means; objects in templates are still caught.
      // What users pass in is checked at run time, whatever the types promise; `readonly T[]` of a
      // long type reads worse than ReadonlyArray.
      '@typescript-eslint/array-type': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'Write the members: the compiler does not check those of a spread literal.',
        },
      ],
    },
  },
  {
    files: ['tests/**', 'examples/**', 'bench/**'],
    languageOptions: { parserOptions: { project: 'tests/tsconfig.sources.json' } },
    rules: {
      // What node:test registers it awaits itself. Any other promise that nobody awaits makes a test that cannot fail.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            {
              from: 'package',
              package: 'node:test',
              name: [
                'describe',
                'it',
                'test',
                'suite',
                'before',
                'after',
                'beforeEach',
                'afterEach',
              ],
            },
          ],
        },
      ],
      // A stand-in is asynchronous because what it stands in for is, and throws what users' code may throw. A test that
      // replaces a method keeps the old one.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        console: 'readonly',
        process: 'readonly',
        URL: 'readonly',
        Request: 'readonly',
        Response: 'readonly',
        performance: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        Buffer: 'readonly',
        crypto: 'readonly',
        indexedDB: 'readonly',
        IDBKeyRange: 'readonly',
        TextDecoder: 'readonly',
        TextEncoder: 'readonly',
        WebAssembly: 'readonly',
      },
    },
  },
  {
    files: ['examples/*/service_worker.js'],
    languageOptions: {
      globals: {
        FILES: 'readonly',
        addEventListener: 'readonly',
        caches: 'readonly',
        clients: 'readonly',
        fetch: 'readonly',
        location: 'readonly',
        skipWaiting: 'readonly',
      },
    },
  },
  {
    files: PROGRAMS.map((name) => `examples/${name}/**/*.{js,ts,tsx}`),
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { document: 'readonly' } },
  },
  {
    files: ['bench/browser/*.mjs'],
    languageOptions: {
      globals: {
        BroadcastChannel: 'readonly',
        document: 'readonly',
        requestAnimationFrame: 'readonly',
        window: 'readonly',
      },
    },
  },
  {
    // What compiles is the test.
    files: ['tests/types/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-vars': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  {
    files: ['tests/**/*.ts'],
    // The second is the program that docs/server.md shows.
    ignores: ['tests/http_server.ts', 'tests/js/server/shutdown_server.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          name: 'node:http',
          importNames: ['createServer'],
          message: 'Use tests/http_server.ts, which keeps idle connections.',
        },
      ],
    },
  },
  {
    files: ['tests/**/*.ts'],
    rules: {
      // Stand-ins for users' code are empty or full of holes because that is what is tested.
      'no-sparse-arrays': 'off',
    },
  },
);
