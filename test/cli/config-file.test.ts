/** The configuration file sandbox-kit.config.yaml: its values, their precedence, and its errors. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckReport } from '../../src/contract/index.ts';
import {
  assertUsageError,
  run,
  runInBackground,
  unwrap,
  type CommandResult,
} from '../support/commands/command.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';

const KEY = 'sk-config-0123456789';

/** Runs a command in a new directory with a configuration file. */
async function runWith(
  t: Test,
  config: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<CommandResult & { directory: string }> {
  const directory = t.testdir({ 'sandbox-kit.config.yaml': config });
  return { ...(await run(args, { cwd: directory, env })), directory };
}

/** Returns the areas that a run selected. */
const judgedAreas = ({ requirements }: CheckReport): string[] => [
  ...new Set(requirements.flatMap((each) => (each.verdict === 'not_selected' ? [] : [each.area]))),
];

void t.test('check reads the URL, the key, and its options from the file', async (t) => {
  const url = await startTextAgent(t, { apiKey: KEY });
  const config = `# a comment
url: \${SANDBOX_URL:-${url}}
apiKey: \${SANDBOX_KEY}
seed: 17
check:
  area: [health, users]
  json: check.json
  concurrency: \${CONCURRENCY:-2}
load:
  rate: 5
`;
  const ran = await runWith(t, config, ['check'], { SANDBOX_KEY: KEY });
  t.equal(ran.code, 0, ran.stderr);
  t.equal(
    ran.stderr,
    'sandbox-kit: Using sandbox-kit.config.yaml: check.area, check.json,\ncheck.concurrency, url, apiKey, seed.\n',
  );
  const report = JSON.parse(readFileSync(join(ran.directory, 'check.json'), 'utf8')) as CheckReport;
  t.match(report, { target: url, seed: '17' });
  t.same(judgedAreas(report), ['health', 'users']);
  t.notMatch(JSON.stringify(report) + ran.stdout + ran.stderr, KEY, 'the key is never shown');
});

void t.test(
  'the command line comes before the file, and a section before shared values',
  async (t) => {
    const url = await startTextAgent(t);
    const config = `url: http://127.0.0.1:1\nseed: shared\ncheck: { area: chat, seed: section }\n`;
    const ran = await runWith(t, config, ['check', url, '--area=health', '--json=-']);
    t.equal(ran.code, 0, ran.stderr);
    const report = JSON.parse(ran.stdout) as CheckReport;
    t.match(report, { target: url, seed: 'section' });
    t.same(judgedAreas(report), ['health']);
    t.match(
      ran.stderr,
      /Using sandbox-kit\.config\.yaml: check\.seed\.\n/,
      'only the keys that were used',
    );
  },
);

void t.test('an option replaces a value of the file that contradicts it', async (t) => {
  const config = 'url: http://127.0.0.1:1\nload: { duration: 30s, profile: chat, rate: 5 }\n';
  const quick = await runWith(t, config, ['load', '--quick']);
  t.equal(quick.code, 3, quick.stderr);
  t.match(quick.stdout, /5 requests per second for\s60 s/);
  const search = await runWith(t, config, ['load', '--find-max', '--step', '1s']);
  t.equal(search.code, 3, search.stderr);
  const both = await runWith(t, 'load: { quick: true, duration: 30s }', ['load', 'http://a.test']);
  t.equal(both.code, 2);
  t.match(
    both.stderr,
    /--quick and --duration can't be combined/,
    'within a section, the options contradict each other',
  );
  const key = await runWith(
    t,
    'apiKey: ${KEY}\n',
    ['check', '--api-key-file', 'none', 'http://a.b'],
    {
      KEY,
    },
  );
  t.match(
    key.stderr,
    /Can't read none \(--api-key-file\)/,
    'the option on the command line takes precedence',
  );
});

void t.test('a file may set options that a run does not use', async (t) => {
  const url = await startTextAgent(t);
  const config = 'voiceUrl: ws://127.0.0.1:1/voice\ncheck: { voiceAnswerType: answer }\n';
  const ran = await runWith(t, config, ['check', url, '--area', 'health']);
  t.equal(ran.code, 0, ran.stderr);
  const chosen = ['check', url, '--area', 'health', '--voice-url', 'ws://127.0.0.1:1/voice'];
  const explicit = await runWith(t, config, chosen);
  t.match(explicit.stderr, /--voice-url needs the voice area/);
});

void t.test('a run against a service does not use the values of the sandbox', async (t) => {
  const ran = await runWith(t, `url: http://127.0.0.1:1\napiKey: \${UNSET}\n`, [
    ...['check', 'http://127.0.0.1:2', '--area', 'service'],
  ]);
  t.equal(ran.code, 3, 'the key of the sandbox is not sent to the service');
  t.equal(ran.stderr, '');
});

void t.test('--config names another file, --no-config ignores the file', async (t) => {
  const directory = t.testdir({
    'sandbox-kit.config.yaml': 'chekc: {}\n',
    ci: { 'kit.yaml': 'url: http://127.0.0.1:1\ncheck: { area: health, markdown: out.md }\n' },
  });
  const named = await run(['check', '--config', 'ci/kit.yaml'], { cwd: directory });
  t.equal(named.code, 3);
  t.match(named.stderr, /Using ci\/kit\.yaml: check\.area, check\.markdown, url\.\n/);
  t.ok(existsSync(join(directory, 'out.md')), 'paths are relative to the working directory');
  const none = await run(['check', '--no-config'], { cwd: directory });
  assertUsageError(
    t,
    none,
    /URL is missing\. .* You can also set url in sandbox-kit\.config\.yaml\./,
  );
  const missing = await run(['check', '--config', 'nope.yaml'], { cwd: directory });
  assertUsageError(t, missing, /Can't read nope\.yaml \(--config\): no such file or directory\./);
  const help = await run(['check', '--help'], { cwd: directory });
  t.equal(help.code, 0, 'the help does not need a valid file');
});

void t.test('agent, serve, and exec read their sections', async (t) => {
  const directory = t.testdir({
    'sandbox-kit.config.yaml': `url: http://127.0.0.1:1
agent: { port: 0, voice: false, json: true, apiKey: "\${AGENT_KEY}", fault: [unhealthy] }
exec: { seed: from-file, agent: true }
`,
  });
  const agent = await runInBackground(t, ['agent'], { cwd: directory, env: { AGENT_KEY: KEY } });
  const { url, voiceUrl, apiKey } = JSON.parse(agent.firstLine) as Record<string, string>;
  t.equal(voiceUrl, undefined);
  t.equal(apiKey, KEY);
  const health = (await (await fetch(`${url}/health`)).json()) as { status: string };
  t.equal(health.status, 'unhealthy');
  await agent.end('SIGTERM');
  t.match(
    await agent.stderr,
    /Using sandbox-kit\.config\.yaml: agent\.port,[^]*\sagent\.fault\.\n/,
  );
  const program = 'console.log(process.env.SANDBOX_KIT_AGENT_URL !== undefined)';
  const ran = await run(['exec', '--', process.execPath, '-e', program], { cwd: directory });
  t.equal(ran.code, 0, ran.stderr);
  t.equal(ran.stdout, 'true\n');
});

/** A file, the expected error, and the command. */
type Row = [config: string, message: RegExp, args?: string[]];

const wrongFiles: Row[] = [
  ['chekc: {}', /yaml:1:1: Unknown key `chekc`\. Did you mean `check`\?/],
  ['check:\n  aera: chat', /yaml:2:3: Unknown key `aera`\. Did you mean `area`\?/],
  [
    'check:\n  api-key-file: key',
    /yaml:2:3: Unknown key `api-key-file`\. Did you mean `apiKeyFile`\?/,
  ],
  ['rate: 20', /yaml:1:1: Unknown key `rate`\. Move it to the section check \(or load/],
  ['load:\n  zzzzzz: 1', /yaml:2:3: Unknown key `zzzzzz`\. Known keys: url, profile, /],
  ['- url', /yaml:1:1: The file must be a mapping/],
  ['check: chat', /yaml:1:1: `check` must be a mapping with the options of the command\./],
  ['url: nope', /yaml:1:6: `url` must be the base URL of a sandbox, .* got "nope"\./],
  ['url: http://me:secret@a.test', /`url` must not contain a user name or password/],
  ['load:\n  rate: -1', /yaml:2:9: `load\.rate` must be a number above 0 .* got -1\./],
  ['load:\n  rate: fast', /`load\.rate` must be a number above 0 .* got "fast"\./],
  ['load:\n  quick: yes please', /`load\.quick` must be true or false, got "yes please"\./],
  ['load:\n  profile: [chat, voice]', /`load\.profile` must be one of .*, got a list\./],
  ['load:\n  profile: { a: 1 }', /`load\.profile` must be one of .*, got a mapping\./],
  ['load:\n  json:', /yaml:2:3: `load\.json` has no value\. It must be a path\./],
  ['check:\n  area: [chat, foo]', /`check\.area` must be a list of .* got "foo"/],
  ['url: a\nurl: b', /yaml:2:1: Duplicate key url\./],
  ['url: [', /yaml:\d:\d+: Invalid YAML: /],
  ['apiKey: sk-inline-1234', /yaml:1:9: `apiKey` must not contain the secret itself\. Name an env/],
  ['apiKey: ${KEY:-sk-inline-1234}', /`apiKey` must not contain the secret itself/],
  [
    'url: ${SANDBOX_URL}',
    /yaml:1:6: The environment variable SANDBOX_URL is not set\. Set it, or add a default: \$\{SANDBOX_URL:-default\}\./,
  ],
  ['url: ${}', /yaml:1:6: Invalid reference to an environment variable\. Write \$\{NAME\}/],
  [
    'url: ${SECRET}',
    /`url` must be the base URL of a sandbox, .*\. The value of \$\{SECRET\} is invalid\./,
  ],
  [
    'check:\n  rate: ${SECRET}',
    /`check\.rate` must be a number above 0\. The value of \$\{SECRET\} is invalid\./,
  ],
  ['apiKey: ${SECRET}\napiKeyFile: key', /sets both apiKey and apiKeyFile\. Remove one of them\./],
];

void t.test('every error has a position and shows no secret', async (t) => {
  for (const [config, message, args = ['check', 'http://127.0.0.1:1']] of wrongFiles) {
    const used = config.startsWith('url') ? ['check'] : args;
    const { code, stdout, stderr } = await runWith(t, config, used, { SECRET: 's3cret-value' });
    t.equal(code, 2, config);
    t.equal(stdout, '');
    t.match(unwrap(stderr), message);
    t.match(unwrap(stderr), /(^| )sandbox-kit: [^\n]+[.?]\n$/);
    t.notMatch(stderr, /s3cret-value|sk-inline|me:secret/, config);
  }
});

void t.test('a variable must be set only for commands that use its value', async (t) => {
  const config = 'load: { apiKey: "${UNSET}" }\nurl: ${UNSET}\n';
  const explain = await runWith(t, config, ['explain', 'CHAT-001']);
  t.equal(explain.code, 0, explain.stderr);
  const check = await runWith(t, config, ['check', 'http://127.0.0.1:1', '--area', 'health']);
  t.equal(check.code, 3, 'the URL on the command line replaces the URL in the file');
});

void t.test('$${ is a literal ${, and an empty variable counts as unset', async (t) => {
  const config = `check: { list: true, markdown: "a$\${b}-\${EMPTY:-c}.md", prompt: "\${EMPTY:-d}" }`;
  const ran = await runWith(t, config, ['check'], { EMPTY: '' });
  t.equal(ran.code, 0, ran.stderr);
  const kept = await runWith(
    t,
    `url: http://127.0.0.1:1\ncheck: { area: health, markdown: "a$\${b}-\${EMPTY:-c}.md" }`,
    ['check'],
    { EMPTY: '' },
  );
  t.ok(existsSync(join(kept.directory, 'a${b}-c.md')));
});

void t.test('a file that ends in .yml is also read', async (t) => {
  const directory = t.testdir({});
  writeFileSync(join(directory, 'sandbox-kit.config.yml'), 'check: { list: true }\n');
  const ran = await run(['check'], { cwd: directory });
  t.equal(ran.code, 0);
  t.match(ran.stderr, /Using sandbox-kit\.config\.yml: check\.list\./);
});
