import { buildTools } from './packaging/build-tools.ts';
import { bundledPackages } from './packaging/bundled-packages.ts';

// Who may import whom. ARCHITECTURE.md draws the same layers. Run with `npm run layers`.

/** Packages that the build puts into the published kit. */
const BUNDLED = `node_modules/(${bundledPackages.join('|')})/`;

const PRODUCT = '^(cli|library|reference-agent|conformance|load|src)/';
const PEERS = ['reference-agent', 'conformance', 'load', 'src/service'];
const KITS = ['src/voice', 'src/http-kit', 'src/report-kit'];

/** Files below `from` import nothing below `to`, except what `except` matches. */
const forbid = (name, comment, from, to, except) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: to, ...(except && { pathNot: except }) },
});

/** Only files that match `owner` import a package. */
const ownedBy = (library, owner) => ({
  name: `only-the-owner-imports-${library.replace(/[@/]/g, '')}`,
  comment: `Only ${owner} imports ${library}. Call the owner, or take a value from the caller.`,
  severity: 'error',
  from: { path: PRODUCT, pathNot: owner },
  to: { path: `node_modules/${library}(/|$)` },
});

/** A top-level package is imported through its entry point. */
const peerRules = PEERS.map((peer) =>
  forbid(
    `${peer.replace('src/', '')}-imports-no-peer`,
    'Agent, conformance, load and service never import each other: the CLI and the library pass one to another as a value.',
    `^${peer}/`,
    `^(${PEERS.filter((other) => other !== peer).join('|')})/`,
  ),
);

const kitRules = KITS.map((kit) =>
  forbid(
    `${kit.replace('src/', '')}-imports-platform-and-contract-only`,
    'The kits sit above platform and contract, and do not import each other.',
    `^${kit}/`,
    PRODUCT,
    `^(${kit}|src/platform|src/contract)/`,
  ),
);

const serviceParts = [
  ...['ingest', 'close', 'results', 'scoring', 'simulator', 'retention', 'admin', 'web'],
];
const servicePartRules = serviceParts.map((part) =>
  forbid(
    `service-${part}-imports-no-sibling`,
    'The parts of the service meet in operations and in the subjects below; app puts them together.',
    `^src/service/${part}/`,
    `^src/service/(${serviceParts.filter((other) => other !== part).join('|')}|app)/`,
  ),
);

/** The directories of the service that import the others, which are its subjects. */
const subjectUsers = [...serviceParts, 'operations', 'app'];

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'No import cycles, type-only imports included.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-dead-files',
      comment:
        'Every product file is imported by another one, unless it starts a process or thread.',
      severity: 'error',
      from: {
        orphan: true,
        path: PRODUCT,
        pathNot: '(\\.d\\.ts$|/generated/|-(thread|process)\\.ts$)',
      },
      to: {},
    },
    {
      name: 'no-missing-files',
      comment: 'Every import resolves. `node` is a reference to its types.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(sandbox-kit/package.json|node)$' },
    },
    {
      name: 'no-dev-dependencies-in-the-product',
      comment: 'A package that the product imports is a dependency, or bundled by the build.',
      severity: 'error',
      from: {
        path: PRODUCT,
        pathNot: `^(${buildTools.join('|')})$`,
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: BUNDLED },
    },
    forbid('no-imports-of-tests', 'Nothing imports tests.', PRODUCT, '^(test|bench)/'),
    forbid(
      'platform-imports-nothing',
      'platform is the lowest layer.',
      '^src/platform/',
      PRODUCT,
      '^src/platform/',
    ),
    forbid(
      'contract-imports-platform-only',
      'contract sits above platform.',
      '^src/contract/',
      PRODUCT,
      '^src/(contract|platform)/',
    ),
    forbid(
      'contract-through-its-entry-point',
      'Import src/contract/index.ts, or otlp-protobuf.ts for protobuf.',
      '^(?!src/contract/)',
      '^src/contract/',
      '^src/contract/(index|otlp-protobuf|generated/.*)\\.ts$',
    ),
    forbid(
      'options-import-platform-and-contract-only',
      'options sits above platform and contract, and below all packages.',
      '^src/options/',
      PRODUCT,
      '^src/(options|platform|contract)/',
    ),
    forbid(
      'foundation-imports-nothing-above',
      'src contains the service, and the layers below the top-level directories.',
      '^src/',
      PRODUCT,
      '^src/',
    ),
    ...kitRules,
    ...peerRules,
    ...servicePartRules,
    forbid(
      'service-subjects-import-no-part',
      'The parts of the service import the subjects, such as scenarios and store, never the other way round.',
      `^src/service/(?!(${subjectUsers.join('|')})/)[^/]+/`,
      `^src/service/(${subjectUsers.join('|')})/`,
    ),
    forbid(
      'service-operations-import-no-part',
      'The pages and /__admin call operations; app gives them what the parts provide, as values.',
      '^src/service/operations/',
      `^src/service/(${[...serviceParts, 'app'].join('|')})/`,
    ),
    forbid(
      'cli-through-entry-points',
      'The CLI and the library use the entry point of each package, and its table of options.',
      '^(cli|library)/',
      `^(${PEERS.join('|')})/.+`,
      `^(${PEERS.join('|')})/index\\.ts$|/options\\.ts$`,
    ),
    forbid(
      'only-the-top-imports-the-library',
      'The library is above the packages, and below the CLI.',
      '^(src|reference-agent|conformance|load)/',
      '^library/',
    ),
    forbid(
      'nothing-imports-the-cli',
      'The CLI is the top layer.',
      '^(library|src|reference-agent|conformance|load)/',
      '^cli/',
    ),
    forbid(
      'engine-knows-no-area',
      'Areas register themselves with the engine.',
      '^conformance/engine/',
      '^conformance/(areas|proof|reports)/',
    ),
    forbid(
      'areas-know-no-proof',
      'Mutants are data; proof/ runs them.',
      '^conformance/areas/',
      '^conformance/(proof|reports)/',
    ),
    ownedBy('better-sqlite3', '^src/service/store/'),
    ownedBy('kysely', '^src/service/store/'),
    ownedBy('pg', '^src/service/store/postgres/'),
    ownedBy('protobufjs', '^src/contract/'),
    ownedBy('werift', '^src/voice/peer/'),
    ownedBy('autocannon', '^load/'),
    ownedBy('hdr-histogram-js', '^load/'),
    ownedBy('yargs-parser', '^cli/'),
    ownedBy('@peculiar/x509', '^src/http-kit/'),
    ownedBy('pino', '^src/platform/'),
    ownedBy('yaml', '^(cli|library)/'),
    ownedBy('opus-decoder', '^src/voice/'),
    ownedBy('libopus-wasm', '^src/voice/'),
    ownedBy('fastify', '^(src/http-kit|reference-agent|src/service)/'),
    ownedBy(
      'ws',
      '^(src/voice/call|src/service/(web/frame/sockets|operations/browser-calls)|reference-agent/voice|conformance/(engine/drive|proof))',
    ),
    ownedBy(
      'undici',
      '^(conformance/(engine/drive|proof)|load/engines|src/http-kit|src/service/simulator|src/voice)/',
    ),
    ownedBy('zod', '^(cli|library|src/(options|platform))/|/(options|shard-option)\\.ts$'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.tap)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'types', 'default'],
    },
  },
};
