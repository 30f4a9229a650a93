// The table of what the methods of artifact services answer: seven methods, `user:` names, missing files, versions and
// metadata. Each case stands for a fresh user. The answers of others stand in the table where they differ.

import type { ArtifactService } from '../../../../js/values/model/artifact.js';

/** The services of the table. `ours` is each home of this package but the folder; `given` is over `@google/adk`'s memory. */
export type Of = 'ours' | 'given' | 'our folder' | "adk's memory" | "adk's folder";

/** The seven methods that `@google/adk` has too. */
export type Methods = Required<Omit<ArtifactService, 'open' | 'put' | 'usage'>>;

export type Answers = Partial<Record<Of, unknown>> & { readonly ours: unknown };

interface Key {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** A service with a key whose session exists, and one of another session of the user. */
export interface Subject {
  readonly service: Methods;
  readonly key: Key;
  readonly other: Key;
}

/** What a case returns: an answer, or `REFUSED` for a rejection. */
export const REFUSED = 'refused';

/** The answer depends on who is first. Of `@google/adk`, the folder loses one of two files in most runs. */
export const BY_CHANCE = Symbol('by chance');

export const PNG = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
const TEXT = { text: 'ä' };
const filename = 'a.png';

export const CASES: readonly (readonly [
  name: string,
  run: (subject: Subject) => Promise<unknown>,
  answers: Answers,
])[] = [
  [
    'saveArtifact counts from 0',
    async ({ service, key }) => [
      await service.saveArtifact({ ...key, filename, artifact: PNG }),
      await service.saveArtifact({ ...key, filename, artifact: PNG }),
    ],
    { ours: [0, 1] },
  ],
  [
    'two saves at once get two versions',
    async ({ service, key }) => {
      const saves = [PNG, TEXT].map((artifact) =>
        service.saveArtifact({ ...key, filename, artifact }),
      );
      return (await Promise.all(saves)).sort();
    },
    { ours: [0, 1], "adk's folder": BY_CHANCE },
  ],
  [
    'the number of a deleted file is not given again',
    async ({ service, key }) => {
      await service.saveArtifact({ ...key, filename, artifact: PNG });
      await service.saveArtifact({ ...key, filename, artifact: PNG });
      await service.deleteArtifact({ ...key, filename });
      return service.saveArtifact({ ...key, filename, artifact: PNG });
    },
    { ours: 2, given: 0, 'our folder': 0, "adk's memory": 0, "adk's folder": 0 },
  ],
  [
    'loadArtifact returns the bytes of each version',
    async ({ service, key }) => {
      await service.saveArtifact({ ...key, filename, artifact: PNG });
      await service.saveArtifact({ ...key, filename, artifact: TEXT });
      return [
        await service.loadArtifact({ ...key, filename }),
        await service.loadArtifact({ ...key, filename, version: 0 }),
        await service.loadArtifact({ ...key, filename, version: 2 }),
      ];
    },
    { ours: [TEXT, PNG, undefined] },
  ],
  ...[-1, 0.5, NaN, '0' as unknown as number].map((version): (typeof CASES)[number] => [
    `the version ${JSON.stringify(version)} of ${typeof version} is refused`,
    async ({ service, key }) => {
      await service.saveArtifact({ ...key, filename, artifact: PNG });
      const request = { ...key, filename, version };
      const calls = [service.loadArtifact(request), service.getArtifactVersion(request)];
      return (await Promise.allSettled(calls)).map(({ status }) => status);
    },
    {
      ours: ['rejected', 'rejected'],
      "adk's memory": ['fulfilled', 'fulfilled'],
      "adk's folder": ['fulfilled', 'fulfilled'],
    },
  ]),
  [
    'loadArtifact keeps the displayed name',
    async ({ service, key }) => {
      const artifact = { inlineData: { ...PNG.inlineData, displayName: 'Größe.png' } };
      await service.saveArtifact({ ...key, filename, artifact });
      return (await service.loadArtifact({ ...key, filename }))?.inlineData?.displayName;
    },
    { ours: 'Größe.png', "adk's folder": undefined },
  ],
  [
    'bytes in base64url are the same bytes',
    async ({ service, key }) => {
      const artifact = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGg_-' } };
      await service.saveArtifact({ ...key, filename, artifact });
      return (await service.loadArtifact({ ...key, filename }))?.inlineData?.data;
    },
    { ours: 'iVBORw0KGg/+', "adk's memory": 'iVBORw0KGg_-' },
  ],
  [
    'an empty text is a file',
    ({ service, key }) => service.saveArtifact({ ...key, filename, artifact: { text: '' } }),
    { ours: 0, given: REFUSED, "adk's memory": REFUSED, "adk's folder": REFUSED },
  ],
  [
    'a reference to a file elsewhere is refused, as google-adk refuses it',
    ({ service, key }) =>
      service.saveArtifact({ ...key, filename, artifact: { fileData: { fileUri: 'gs://b/a' } } }),
    { ours: REFUSED, "adk's memory": 0, "adk's folder": 0 },
  ],
  [
    'a part without a file is refused',
    ({ service, key }) =>
      service.saveArtifact({ ...key, filename, artifact: { functionCall: { name: 'f' } } }),
    { ours: REFUSED },
  ],
  [
    'what google-adk stores at a rewind is no file, and its name stays',
    async ({ service, key }) => {
      const artifact = { inlineData: { mimeType: 'application/octet-stream', data: '' } };
      await service.saveArtifact({ ...key, filename, artifact: PNG });
      await service.saveArtifact({ ...key, filename, artifact });
      return [
        await service.loadArtifact({ ...key, filename }),
        await service.loadArtifact({ ...key, filename, version: 0 }),
        await service.listArtifactKeys(key),
      ];
    },
    {
      ours: [undefined, PNG, [filename]],
      "adk's memory": [
        { inlineData: { mimeType: 'application/octet-stream', data: '' } },
        PNG,
        [filename],
      ],
      "adk's folder": [
        { inlineData: { mimeType: 'application/octet-stream', data: '' } },
        PNG,
        [filename],
      ],
    },
  ],
  [
    'a file that is missing is undefined or empty, and deleting it is no error',
    async ({ service, key }) => [
      await service.loadArtifact({ ...key, filename }),
      await service.listVersions({ ...key, filename }),
      await service.listArtifactVersions({ ...key, filename }),
      await service.getArtifactVersion({ ...key, filename }),
      await service.listArtifactKeys(key),
      await service.deleteArtifact({ ...key, filename }),
    ],
    { ours: [undefined, [], [], undefined, [], undefined] },
  ],
  [
    'a deleted file is missing',
    async ({ service, key }) => {
      await service.saveArtifact({ ...key, filename, artifact: PNG });
      await service.deleteArtifact({ ...key, filename });
      return [
        await service.loadArtifact({ ...key, filename }),
        await service.loadArtifact({ ...key, filename, version: 0 }),
        await service.listVersions({ ...key, filename }),
        await service.getArtifactVersion({ ...key, filename }),
        await service.listArtifactKeys(key),
      ];
    },
    { ours: [undefined, undefined, [], undefined, []] },
  ],
  [
    'a user: file is in all sessions of its user, and any other in its own',
    async ({ service, key, other }) => {
      await service.saveArtifact({ ...key, filename: 'user:b.txt', artifact: TEXT });
      await service.saveArtifact({ ...key, filename: 'b.txt', artifact: PNG });
      await service.saveArtifact({ ...other, filename: 'user:b.txt', artifact: PNG });
      return [
        await service.listArtifactKeys(key),
        await service.listArtifactKeys(other),
        await service.listVersions({ ...key, filename: 'user:b.txt' }),
        await service.loadArtifact({ ...other, filename: 'user:b.txt', version: 0 }),
        await service.loadArtifact({ ...other, filename: 'b.txt' }),
        await service.loadArtifact({ ...key, userId: 'eve', filename: 'user:b.txt' }),
      ];
    },
    { ours: [['b.txt', 'user:b.txt'], ['user:b.txt'], [0, 1], TEXT, undefined, undefined] },
  ],
  [
    'a user: file of another app is another file',
    async ({ service, key }) => {
      await service.saveArtifact({ ...key, filename: 'user:b.txt', artifact: TEXT });
      return service.loadArtifact({ ...key, appName: 'other', filename: 'user:b.txt' });
    },
    { ours: undefined, "adk's folder": TEXT },
  ],
  [
    'a file and a folder may have one name',
    async ({ service, key }) => {
      await service.saveArtifact({ ...key, filename: 'doc', artifact: TEXT });
      await service.saveArtifact({ ...key, filename: 'doc/in', artifact: TEXT });
      const names = await service.listArtifactKeys(key);
      await service.deleteArtifact({ ...key, filename: 'doc' });
      return [names, await service.loadArtifact({ ...key, filename: 'doc/in' })];
    },
    { ours: [['doc', 'doc/in'], TEXT], "adk's folder": [['doc'], undefined] },
  ],
  [
    'names are sorted by UTF-16',
    async ({ service, key }) => {
      for (const filename of ['b', 'B', 'ä', 'user:a', '😀', '\uffee']) {
        await service.saveArtifact({ ...key, filename, artifact: TEXT });
      }
      return service.listArtifactKeys(key);
    },
    { ours: ['B', 'b', 'user:a', 'ä', '😀', '\uffee'] },
  ],
  [
    'metadata has the version, the type and what the caller gave',
    async ({ service, key }) => {
      const customMetadata = { pages: 3, by: { name: 'ö' } };
      await service.saveArtifact({ ...key, filename, artifact: PNG, customMetadata });
      await service.saveArtifact({ ...key, filename, artifact: TEXT });
      const versions = await service.listArtifactVersions({ ...key, filename });
      const told = versions.map(({ version, mimeType, customMetadata }) => ({
        version,
        mimeType,
        customMetadata,
      }));
      const one = await service.getArtifactVersion({ ...key, filename, version: 0 });
      return [
        told,
        one?.version,
        await service.getArtifactVersion({ ...key, filename, version: 2 }),
      ];
    },
    {
      ours: metadata('image/png', 'text/plain'),
      "adk's memory": metadata(undefined, undefined),
      "adk's folder": metadata('image/png', undefined),
    },
  ],
  [
    'a stored file does not change with the objects of its caller',
    async ({ service, key }) => {
      const artifact = { inlineData: { ...PNG.inlineData } };
      await service.saveArtifact({ ...key, filename, artifact });
      artifact.inlineData.data = 'AAAA';
      const loaded = await service.loadArtifact({ ...key, filename });
      loaded!.inlineData!.mimeType = 'text/html';
      return service.loadArtifact({ ...key, filename });
    },
    {
      ours: PNG,
      "adk's memory": { inlineData: { mimeType: 'text/html', data: 'AAAA' } },
    },
  ],
  [
    'a file of a session that does not exist is refused',
    ({ service, key }) =>
      service.saveArtifact({ ...key, sessionId: 'none', filename, artifact: TEXT }),
    { ours: REFUSED, "adk's memory": 0, "adk's folder": 0 },
  ],
  ...names(['', '.', 'user:', ' a', 'a ', 'a\\b', './a', 'a//b', 'versions', 'a/Versions./b'], {
    ours: REFUSED,
    "adk's memory": 0,
    "adk's folder": 0,
  }),
  ...names(['..', '../a', '/a', 'user:../a'], {
    ours: REFUSED,
    "adk's memory": 0,
    "adk's folder": REFUSED,
  }),
  ...names(['C:a', 'a:b', 'metadata.json', 'a/Metadata.JSON. '], {
    ours: REFUSED,
    "adk's memory": 0,
    "adk's folder": 0,
  }),
  ...names(['a/../b'], { ours: REFUSED, "adk's memory": 0, "adk's folder": 0 }),
  ...names(['ü/ö ä.png', '.hidden', 'user:user:a', '😀', 'metadata.json/a', 'a..b'], { ours: 0 }),
  ...names(['ä'.repeat(127)], { ours: 0 }),
  ...names(['ä'.repeat(128)], { ours: REFUSED, "adk's memory": 0 }),
];

function names(all: readonly string[], answers: Answers): typeof CASES {
  return all.map((filename) => [
    `the name ${JSON.stringify(filename.slice(0, 20))} of ${filename.length} characters`,
    ({ service, key }) => service.saveArtifact({ ...key, filename, artifact: TEXT }),
    answers,
  ]);
}

function metadata(first: string | undefined, second: string | undefined): unknown {
  const customMetadata = { pages: 3, by: { name: 'ö' } };
  return [
    [
      { version: 0, mimeType: first, customMetadata },
      { version: 1, mimeType: second, customMetadata: undefined },
    ],
    0,
    undefined,
  ];
}
