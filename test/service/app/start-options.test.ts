/** Option checks of `startService` and `startAgent`, for callers without a compiler. */
import t from 'tap';
import {
  manualClock,
  startAgent,
  startService,
  type AgentOptions,
  type Log,
  type SeedDocument,
  type ServiceOptions,
} from '../../../library/index.ts';

type Row = [options: unknown, message: RegExp];

const sharedRows: Row[] = [
  [{ prot: 1 }, /^start\w+: Unknown option "prot"\. Did you mean port\?$/],
  [{ nope: 1 }, /: Unknown option "nope"\. Known options: host, port, .*\.$/],
  [{ completelyOther: 1 }, /: Unknown option "completelyOther"\. Known options: host, port, /],
  [{ port: '8080' }, /: port must be an integer from 0 to 65535, got "8080"\.$/],
  [{ port: 65_536 }, /got 65536/],
  [{ port: Number.NaN }, /got NaN/],
  [{ host: '' }, /host must be a non-empty string, got an empty string/],
  [{ host: 7 }, /host must be a non-empty string, got 7/],
  [{ clock: Date }, /clock must be a clock, such as manualClock\(Date\.now\(\)\), got a function/],
  [{ clock: { nowMs: () => 1 } }, /clock must be a clock.*got an object/],
  [{ log: 'info' }, /log must be an object with the functions info, warn and error/],
  [null, /The options must be an object, got null/],
  ['http://x', /The options must be an object, got "http:\/\/x"\.$/],
  [[], /The options must be an object, got an empty array\.$/],
];

const serviceRows: Row[] = [
  [{ seed: 'seed.yaml' }, /seed must be an object, got "seed\.yaml"\.$/],
  [{ seed: { evls: [] } }, /^startService: Unknown key seed\.evls\. Did you mean evals\?$/],
  [
    { seed: { settings: { evals: ['nothing'] } } },
    /^startService: seed\.settings\.evals\[0\] must be the id of an eval, got "nothing"\.$/,
  ],
  [
    { keys: [{ key: 'short' }] },
    /^startService: keys\[0\]\.key must be a text of 8 to 256 visible ASCII .*, got a string\.$/,
  ],
  [
    { host: '0.0.0.0' },
    /^startService: Other machines can reach a service on 0\.0\.0\.0\. Set keys\.$/,
  ],
  [{ keys: 'my-secret-key' }, /keys must be an array, got a string/],
  [{ keys: ['my-secret-key'] }, /keys\[0\] must be an object, got a string/],
  [
    { keys: [{ key: 'my-secret-key', onwer: 'a' }] },
    /Unknown option "keys\[0\]\.onwer"\. Did you mean owner\?/,
  ],
  [{ keys: [{ owner: 'a' }] }, /keys\[0\]\.key must be a text of 8 to 256 .*, got nothing\.$/],
  [{ judge: { baseUrl: 'http://x' } }, /judge\.model must be .*, got nothing/],
  [{ judge: { baseUrl: 'x', model: 'm' } }, /judge\.baseUrl must be a URL such as/],
  [
    { judge: { baseURL: 'http://x', model: 'm' } },
    /Unknown option "judge\.baseURL"\. Did you mean baseUrl\?/,
  ],
  [{ drainMs: -1 }, /drainMs must be .*, got -1/],
  [{ retentionMs: 86_400_000 }, /retentionMs must be .* from 172800000 to .*, got 86400000/],
  [{ datadir: '/x' }, /Unknown option "datadir"\. Did you mean dataDir\?/],
  [{ dataDir: 1 }, /dataDir must be/],
  [{ appUrl: 'app.example' }, /appUrl must be a URL/],
  [{ randomSeed: 7 }, /randomSeed must be a non-empty string, got 7/],
  [{ onSeedProgress: true }, /onSeedProgress must be a function, got true/],
];

const agentRows: Row[] = [
  [{ apiKey: 7 }, /apiKey must be a non-empty string, got a number\.$/],
  [{ apiKey: '' }, /apiKey must be a non-empty string, got an empty string\.$/],
  [
    { host: '0.0.0.0' },
    /^startAgent: Other machines can reach an agent on 0\.0\.0\.0\. Set apiKey/,
  ],
  [{ apikey: 'x' }, /Unknown option "apikey"\. Did you mean apiKey\?/],
  [{ faults: { kind: 'latency' } }, /faults must be an array, got an object/],
  [{ tls: true }, /tls must be an object, got true/],
  [{ tls: { kind: 'other' } }, /tls\.kind must be one of generated, files, got "other"\.$/],
  [{ voice: { hangOver: 1 } }, /Unknown option "voice\.hangOver"\. Did you mean hangOverMs\?/],
  [{ voice: { ports: [1, 'x'] } }, /voice\.ports\[1\] must be an integer/],
  [{ open: 'yes' }, /open must be true or false, got "yes"\.$/],
];

void t.test(
  'an unknown option or a wrong type is rejected with the expected name or type',
  async (t) => {
    const starts: [
      start: (options: never) => Promise<{ stop: () => Promise<void> }>,
      rows: Row[],
    ][] = [
      [startService, [...sharedRows, ...serviceRows]],
      [startAgent, [...sharedRows, ...agentRows]],
    ];
    for (const [start, rows] of starts) {
      for (const [options, message] of rows) {
        const title = `${start.name} ${JSON.stringify(options)}`;
        try {
          const running = await start(options as never);
          await running.stop();
          t.fail(`${title} started`);
        } catch (error) {
          t.type(error, TypeError, title);
          t.match((error as Error).message, message, title);
          t.notMatch((error as Error).message, /my-secret/, 'no key');
        }
      }
    }
  },
);

void t.test('undefined is treated as absent; null turns an optional feature off', async (t) => {
  const absent = { host: undefined, port: undefined, clock: undefined, seed: undefined };
  const service = await startService(absent as never);
  await service.stop();
  const agent = await startAgent({ ...absent, apiKey: null, tls: null, voice: null } as never);
  t.equal(agent.voiceUrl, null);
  await agent.stop();
});

void t.test('the package exports the types of all options', async (t) => {
  const events: string[] = [];
  const log: Log = { info: (event) => events.push(event), warn() {}, error() {} };
  const seed: SeedDocument = {
    evals: [{ id: 'a', name: 'A', kind: 'max_turns', params: { max: 3 } }],
  };
  const shared = { clock: manualClock(0), log, host: '127.0.0.1', port: 0 };
  const serviceOptions: ServiceOptions = {
    ...shared,
    dataDir: t.testdir(),
    databaseUrl: 'postgres://127.0.0.1:1/none',
    seed,
    onSeedProgress: () => undefined,
    randomSeed: 'a test',
    apiKeyHeader: 'x-key',
    keys: [{ key: 'a-key-of-mine', owner: 'me' }],
    judge: { baseUrl: 'http://127.0.0.1:1/v1', model: 'm', timeoutMs: 1, retriesMax: 0 },
    userModel: { baseUrl: 'http://127.0.0.1:1/v1', model: 'm' },
    speech: { baseUrl: 'http://127.0.0.1:1/v1', model: 'm', voice: 'v', apiKey: 'k' },
    transcription: { baseUrl: 'http://127.0.0.1:1/v1', model: 'm', apiKey: 'k' },
    appUrl: 'https://app.example',
    recordCallers: false,
    drainMs: 0,
    retentionMs: 30 * 86_400_000,
  };
  const agentOptions: AgentOptions = {
    ...shared,
    apiKey: 'k',
    open: false,
    seed: 's',
    tls: { kind: 'generated' },
    faults: [{ kind: 'unhealthy' }],
    script: { rules: [] },
    voice: { hangOverMs: 200, ports: [40_000, 40_400] },
    mutant: 'chat/content-null',
    journalEntriesMax: 3,
    journalBodies: true,
  };
  // Data is either in a directory or in a database.
  const { databaseUrl: _, ...inDirectory } = serviceOptions;
  // A mutant serves plain HTTP on a separate port.
  const { mutant: __, ...conforming } = agentOptions;
  const [service, agent] = await Promise.all([startService(inDirectory), startAgent(conforming)]);
  await Promise.all([service.stop(), agent.stop()]);
  t.same(events.toSorted(), ['agent_listening', 'leases_freed', 'service_listening']);
});
