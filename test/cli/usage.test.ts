/** Wrong usage of each command: one message that says what was expected, and exit code 2. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run } from '../support/commands/command.ts';
import { runProcess } from '../support/commands/command-process.ts';
import { createFolder, writeFileIn } from '../support/commands/folder.ts';
import { testUsage, type UsageRow } from '../support/commands/usage.ts';
import { atNight } from '../support/nightly.ts';

const FOLDER = createFolder(t);
const file = (name: string, text: string): string => writeFileIn(FOLDER, name, text);
const MISSING = join(FOLDER, 'not-there', 'file');
const EMPTY = file('empty', '');
const TWO_LINES = file('two-lines', 'one\ntwo\n');
const NO_PEM = file('no-pem', 'hello');
const BAD_PEM = file('bad.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
const OTHER_JSON = file('other.json', '{"a":1}');
const NO_OBJECT = file('list.json', '[]');
const TRUNCATED = file('truncated.ndjson', '{"record":"run","kitVersion":"0.1');
const knownFailures = (id: string, ...more: object[]): string =>
  file(
    `known-failures-${id}-${more.length}.json`,
    JSON.stringify({ accepted: [{ id, comment: 'why' }, ...more] }),
  );
const NO_COMMENT = file('no-comment.json', '{"accepted":[{"id":"CHAT-024","comment":" "}]}');
const LINKED = join(FOLDER, 'linked');
symlinkSync(EMPTY, LINKED);

// Nothing listens there: a run that ignores wrong usage exits with 3, not with 2.
const URL = 'http://127.0.0.1:1';

const general: UsageRow[] = [
  [[], /Specify a command, for example sandbox-kit demo\. Run sandbox-kit --help/],
  [
    ['frobnicate'],
    /Unknown command "frobnicate"\. Run sandbox-kit --help to list all commands\.\n/,
  ],
  [['chekc', URL], /Unknown command "chekc"\. Did you mean check\?\n/],
  [['--verison'], /Unknown option --verison\. Did you mean --version\?/],
  [['demo', 'now'], /Unexpected argument "now"\. Run (npx )?sandbox-kit demo --help/],
  [['chck'], /Did you mean check\?/],
  [['sreve'], /Did you mean serve\?/],
  [['nope'], /Unknown command "nope"\. Run sandbox-kit --help/],
  [['demo', '--keep=3'], /--keep takes no value, got "3"/],
  [['explain', 'NOPE'], /Unknown requirement "NOPE"/],
  [['explain', 'CHAT-24'], /Did you mean CHAT-024\?/],
  [['explain', 'CHAT-0024'], /Unknown requirement "CHAT-0024"\. Did you mean CHAT-024\?/],
  [
    ['explain', 'SERVICE-00'],
    /"SERVICE-00"\. Run (npx )?sandbox-kit explain service to list the require/,
  ],
  [
    ['explain', 'CHAT-999'],
    /"CHAT-999"\. Run (npx )?sandbox-kit explain chat to list the requirements/,
  ],
  [['explain', 'servcie'], /Did you mean service\?/],
  [['explain', 'SERVCIE-087'], /Did you mean SERVICE-087\?/],
  [['explain', 'CHAT-024', 'CHAT-025'], /Unexpected argument "CHAT-025"/],
  [['schemas', 'Nope'], /Unknown message "Nope"/],
  [['schemas', 'chatrespons'], /Did you mean ChatResponse\?/],
  [['schemas', '--out', join(NO_PEM, 'x')], /Can't create the directory .* \(--out\): /],
  [['schemas', '--out', '/proc/nowhere/at-all'], /Can't create the directory .* \(--out\): /],
  [['schemas', 'Health', '--out', FOLDER], /Remove NAME/],
  [['schemas', '--openapi', 'voice'], /--openapi must be one of service, sandbox, got "voice"/],
  [['schemas', '--openapi', 'service', '--asyncapi'], /--openapi and --asyncapi can't be combined/],
  [['schemas', 'Health', '--asyncapi'], /NAME and --asyncapi can't be combined/],
  [
    ['schemas', '--asyncapi', '--out', FOLDER],
    /--asyncapi and --out .* --out writes all documents/,
  ],
  [
    ['selftest', '--only', 'xyzzy xyzzy xyzzy'],
    /No id contains "xyzzy xyzzy xyzzy" \(--only\)\. Run (npx )?sandbox-kit selftest --list to list all\./,
  ],
  [['selftest', '--only', 'chat/contnet-null'], /\. Did you mean chat\/content-null\?/],
  [['selftest', '--only', 'contnet-null'], /\. Did you mean content-null\?/],
  [['selftest', '--only', ''], /--only must be a text that is not empty, got ""/],
  [['selftest', '--only', 'a', '--only', 'b'], /--only can be given only once/],
  [['selftest', '--only', 'health/', '--json', MISSING], /Can't write .* \(--json\): /],
];

const addresses: UsageRow[] = [
  [['check'], /URL is missing\. It must be the base URL of a sandbox/],
  [['check', ''], /URL must be the base URL .* got ""/],
  [['check', 'sandbox.example.com'], /got "sandbox.example.com"\. Did you mean https:\/\/sandbox/],
  [['check', 'example.com:8443/api'], /Did you mean https:\/\/example\.com:8443\/api\?/],
  [['check', 'localhost:8080'], /got "localhost:8080"\. Did you mean http:\/\/localhost:8080\?/],
  [['check', '127.0.0.1:8080'], /Did you mean http:\/\/127\.0\.0\.1:8080\?/],
  [['check', 'foo'], /such as https:\/\/sandbox\.example\.com, got "foo"\.\n/],
  [['check', 'ftp://sandbox.example.com'], /got "ftp:\/\/sandbox.example.com"/],
  [['check', `${URL}/?a=1`], /URL must not contain \? or #/],
  [['check', `${URL}/#a`], /URL must not contain \? or #/],
  [['check', 'http://me:secret@127.0.0.1:1'], /must not contain a user name or password/],
  [['check', URL, URL], /Unexpected argument "http:/],
  [
    ['check', 'http://127.0.0.1:99999'],
    /URL must have a port of at most 65535, got "http:\S+:99999"\./,
  ],
  [
    ['check', 'http://127.0.0.1:1/?x=1'],
    /URL must not contain \? or #\. Did you mean http:\/\/127\.0\.0\.1:1\?\n/,
  ],
  [['doctor'], /URL is missing/],
  [['doctor', 'x'], /URL must be the base URL of a sandbox/],
];

const optionRows: UsageRow[] = [
  [['check', URL, '--nope'], /Unknown option --nope\. Run (npx )?sandbox-kit check --help/],
  [['check', URL, '--jsonn', 'x'], /Unknown option --jsonn\. Did you mean --json\?/],
  [['check', URL, '--Area', 'chat'], /Unknown option --Area\. Did you mean --area\?/],
  [['check', URL, '--rate', '-5s'], /--rate must be a number above 0/],
  [['check', URL, '-x'], /Unknown option -x\./],
  [
    ['check', URL, '--area', 'chta'],
    /--area must be a list of .*, got "chta"\. Did you mean chat\?/,
  ],
  [['check', URL, '--area', 'chat,voce'], /got "voce"\. Did you mean voice\?/],
  [['check', URL, '--area', 'nope'], /--area must be a list of .*, got "nope"\.\n/],
  [['selftest', '--area', 'servcie'], /Did you mean service\?/],
  [['check', URL, '--area', ''], /--area must be a list of .* got ""/],
  [['check', URL, '--area'], /--area needs a value: --area AREAS\./],
  [
    ['check', URL, '--concurrency', 'x'],
    /--concurrency must be a whole number from 1 to 64, got "x"\./,
  ],
  [['check', URL, '--concurrency', '0'], /from 1 to 64, got 0/],
  [['check', URL, '--concurrency', '65'], /from 1 to 64, got 65/],
  [['check', URL, '--concurrency', '1.5'], /got 1.5/],
  [['check', URL, '--concurrency'], /--concurrency needs a value/],
  [['check', URL, '--concurrency='], /--concurrency needs a value/],
  [['check', URL, '--concurrency', '1', '--concurrency', '2'], /can be given only once/],
  [['check', URL, '--rate', '0'], /--rate must be a number above 0, got 0/],
  [['check', URL, '--rate', '-1'], /got -1/],
  [['check', URL, '--rate', 'fast'], /--rate must be a number/],
  [['check', URL, '--timeout-ms', '99'], /--timeout-ms must be .* from 100 to 600000, got 99/],
  [['check', URL, '--seed', 'a b'], /--seed must be 1 to 64 letters/],
  [['check', URL, '--seed', ''], /--seed must be 1 to 64 letters/],
  [['check', URL, '--seed', 'a', '--seed', 'b'], /--seed can be given only once/],
  [['check', URL, '--prompt', ''], /--prompt must be a text that is not empty, got ""/],
  [['check', URL, '--prompt'], /--prompt needs a value/],
  [
    ['check', URL, '--only', 'CHAT-24'],
    /Unknown requirement "CHAT-24" \(--only\)\. Did you mean CHAT-024\?/,
  ],
  [
    ['check', URL, '--skip', 'CHTA-024'],
    /Unknown requirement "CHTA-024" \(--skip\)\. Did you mean CHAT-024\?/,
  ],
  [
    ['check', URL, '--area', 'chat', '--only', 'VOICE-001'],
    /is a requirement of voice, but this run checks only chat\. Did you mean --area chat,voice\?/,
  ],
  [
    ['check', URL, '--only', 'CLIENT-001'],
    /a requirement of clients .* Judge a client with sandbox-kit exec --judge-client\./,
  ],
  [
    ['selftest', '--area', 'voice,health', '--only', 'chat/'],
    /No id of health and voice \(--area\) contains "chat\/" \(--only\)\./,
  ],
  [['selftest', '--only', 'nope'], /No id contains "nope" \(--only\)\./],
  [
    ['check', URL, '--only', 'CHAT-001,'],
    /--only must be a list of requirements such as .*, got ""\./,
  ],
  [['check', URL, '--only', 'CHAT-024', '--skip', '*'], /No requirement is left to judge/],
  [['check', URL, '--only'], /--only needs a value: --only IDS\./],
  [['check', URL, '--requirements', 'v1'], /Unknown requirement set "v1" .* Known sets: 0\.2\./],
  [['check', URL, '--strict=yes'], /--strict takes no value, got "yes"/],
  [['check', '--json', '--strict', URL], /--json needs a value/],
];

const filesOfCheck: UsageRow[] = [
  [['check', URL, '--json', MISSING], /Can't write .* \(--json\): no such file or directory/],
  [['check', URL, '--junit', MISSING], /Can't write .* \(--junit\): /],
  [['check', URL, '--markdown', FOLDER], /Can't write .* \(--markdown\): it is a directory/],
  [['check', URL, '--record', MISSING], /Can't write .* \(--record\): /],
  [['check', URL, '--json', ''], /--json must be a path, got ""/],
  [['check', URL, '--json'], /--json needs a value/],
  [['check', '--list', '--json', '-'], /--json and --list can't be combined: nothing is sent/],
  [['check', '--dry-run', '--html', 'a'], /--html and --dry-run can't be combined: nothing is/],
  [['agent', '--port', 'abc'], /--port must be a whole number from 0 to 65535, got "abc"\./],
  [['check', URL, '--json', 'a', '--json', 'b'], /--json can be given only once/],
  [['check', URL, '--json', '-', '--junit', '-'], /Only one of --json, --junit can be -/],
  [['check', URL, '--json', 'same', '--html', 'same'], /--json and --html both write to same/],
  [
    ['check', URL, '--record', 'same', '--junit', join(FOLDER, 'same')],
    /--junit and --record both write/,
  ],
  [['check', URL, '--json', EMPTY, '--html', LINKED], /--json and --html both write/],
  [['check', URL, '--save-audio', NO_PEM], /--save-audio must be a directory, but .* is a file/],
  [
    ['check', URL, '--save-audio', join(NO_PEM, 'x')],
    /Can't create the directory .* \(--save-audio\): /,
  ],
  [['check', URL, '--save-audio', '/proc'], /Can't write to the directory \/proc \(--save-audio\)/],
  [
    ['check', URL, '--save-audio', 'x', '--area', 'chat'],
    /--save-audio needs the voice area, but --area is chat\. Add voice/,
  ],
  [['check', URL, '--ca', MISSING], /Can't read .* \(--ca\): /],
  [['check', URL, '--ca', FOLDER], /Can't read .* \(--ca\): it is a directory/],
  [['check', URL, '--ca', NO_PEM], /contains no PEM certificate/],
  [['check', URL, '--ca', BAD_PEM], /contains an invalid PEM certificate/],
  [
    ['check', URL, '--api-key', 'sk-secret'],
    /--api-key would show the key to other users .* set SANDBOX_KIT_API_KEY, set SANDBOX_KIT_SERVICE_API_KEY, or use --api-key-file FILE\./,
  ],
  [
    ['serve', '--api-key=sk-secret'],
    /Instead, set SANDBOX_KIT_SERVICE_API_KEY or use --api-key-file FILE\./,
  ],
  [['check', URL, '--api-key-file', MISSING], /Can't read .* \(--api-key-file\): /],
  [['check', URL, '--api-key-file', EMPTY], /key file .* \(--api-key-file\) is empty/],
  [['check', URL, '--api-key-file', TWO_LINES], /HTTP header can't carry other characters/],
  [
    ['check', URL],
    /key in SANDBOX_KIT_API_KEY must be one line of printable ASCII/,
    { SANDBOX_KIT_API_KEY: 'a b' },
  ],
  [
    ['check', URL, '--compare', EMPTY],
    /--compare must be a report of sandbox-kit check --json, but \S+empty is empty\./,
  ],
  [
    ['check', URL, '--compare', NO_OBJECT],
    /check --json\. \S+list\.json:1:1: the report of check must be an object, got /,
  ],
  [['check', URL, '--known-failures', MISSING], /Can't read .* \(--known-failures\): /],
  [
    ['check', URL, '--known-failures', EMPTY],
    /--known-failures must be a JSON file such as \{"accepted":.*, but \S+empty is empty\./,
  ],
  [
    ['check', URL, '--known-failures', OTHER_JSON],
    /other\.json:1:1: .* at \/accepted: expected \{"accepted":/,
  ],
  [
    ['check', URL, '--known-failures', NO_COMMENT],
    /json:1:41: \/accepted\/0\/comment must not be empty\. State why/,
  ],
  [
    ['check', URL, '--known-failures', knownFailures('CHAT-24')],
    /json:1:20: .* Did you mean CHAT-024\?/,
  ],
  [['check', URL, '--known-failures', knownFailures('NOPE')], /Unknown requirement "NOPE"/],
  [
    ['check', URL, '--known-failures', knownFailures('CHAT-999')],
    /json:1:20: Unknown requirement "CHAT-999"\. Run (npx )?sandbox-kit explain chat to list/,
  ],
  [
    ['check', URL, '--known-failures', knownFailures('SERVICE-001')],
    /json:1:20: SERVICE-001 is not part of this run: it is a requirement of the service\./,
  ],
  [
    ['check', URL, '--area', 'service', '--known-failures', knownFailures('CHAT-024')],
    /json:1:20: CHAT-024 is not part of this run: it is a requirement of a sandbox\./,
  ],
  [
    [
      'check',
      URL,
      '--known-failures',
      knownFailures('CHAT-024', { id: 'CHAT-024', comment: 'again' }),
    ],
    /json:1:54: Duplicate requirement "CHAT-024"/,
  ],
];

const recordings: UsageRow[] = [
  [['grade'], /RECORDING is missing/],
  [['grade', MISSING], /Can't read .* \(RECORDING\): /],
  [['grade', FOLDER], /Can't read .* \(RECORDING\): it is a directory/],
  [['grade', EMPTY], /must be a file of sandbox-kit check --record, but \S+empty is empty\./],
  [['grade', NO_PEM], /line 1: not JSON/],
  [
    ['grade', OTHER_JSON],
    /must be a file of sandbox-kit check --record\. .*line 1: expected a run record, such as \{"record":/,
  ],
  [['grade', TRUNCATED], /line 1: not JSON/],
];

const agents: UsageRow[] = [
  [['agent', '--port', '65536'], /--port must be .* from 0 to 65535, got 65536/],
  [['agent', '--port', 'x'], /--port must be a whole number/],
  [['agent', '--port'], /--port needs a value/],
  [
    ['agent', '--host', '0.0.0.0'],
    /Other machines can reach 0\.0\.0\.0 \(--host\)\. Set a key in SANDBOX_KIT_API_KEY, or use --open/,
  ],
  [
    ['agent', '--fault', 'no-such-fault'],
    /Unknown fault "no-such-fault"\. Known faults: bad_sdp, buffered_audio, .*, wrong_codec\./,
  ],
  [
    ['agent', '--fault', 'ratelimit;times=3'],
    /Unknown fault "ratelimit"\. Did you mean rate_limit\?/,
  ],
  [['agent', '--script', MISSING], /Can't read .* \(--script\): no such file/],
  [['agent', '--script', FOLDER], /Can't read .* \(--script\): it is a directory/],
  [['agent', '--script', EMPTY], /--script must be a script of replies, but \S+empty is empty\./],
  [['agent', '--script', NO_PEM], /no-pem:1:1: Invalid JSON: /],
  [['agent', '--cert', BAD_PEM], /--cert and --key must be used together/],
  [['agent', '--port', '0', '--cert', BAD_PEM, '--key', BAD_PEM], /Can't use the certificate: /],
  [['agent', '--port', '0', '--tls', '--ca-out', MISSING], /Can't write .* \(--ca-out\): /],
  [
    ['agent', '--log-level', 'loud'],
    /--log-level must be one of silent, error, warn, info, got "loud"/,
  ],
  [['agent', '--mutant', 'chat/content-nul'], /Did you mean chat\/content-null\?/],
  [
    ['agent', '--mutant', 'nope'],
    /Unknown mutant "nope" of a sandbox\. Run (npx )?sandbox-kit selftest --list/,
  ],
  [['agent', '--mutant', 'chat/content-null', '--tls'], /--mutant serves plain HTTP/],
  [
    ['serve', '--retention', '30'],
    /--retention must be a number of days such as 30d, .* got "30"\. Did you mean 30d\?/,
  ],
  [['serve', '--retention', '48h'], /--retention must be .*, got "48h"\. Did you mean 2d\?/],
  [['serve', '--retention', '30h'], /--retention must be .*, got "30h"\.$/m],
  [['serve', '--retention', '1d'], /--retention must be .* from 2d to 36500d, got "1d"/],
  [
    ['agent', '--mutant', 'chat/content-null', '--host', '0.0.0.0', '--open'],
    /--mutant and --host 0\.0\.0\.0 can't be combined: a mutant listens on 127\.0\.0\.1\. Remove/,
  ],
];

const services: UsageRow[] = [
  [['serve', '--drain', '15'], /--drain must be a duration such as 60s or 5m, .* got "15"/],
  [['serve', '--drain', '-1s'], /--drain must be a duration .* from 0s to 10m, got "-1s"/],
  [['serve', '--drain', '601s'], /--drain must be a duration .* from 0s to 10m, got "601s"/],
  [['serve', '--drain', '10h'], /--drain must be a duration .* from 0s to 10m, got "10h"/],
  [['serve', '--drain'], /--drain needs a value: --drain TIME\./],
  [['serve', '--drain', '1s', '--drain', '2s'], /--drain can be given only once/],
  [['serve', '--host', '999.1.1.1'], /--host must be a host name or an IP address, got "999\.1\.1/],
  [['agent', '--host', '0.0.0.0:80'], /--host must be a host name or an IP address, got "0\.0\.0/],
  [
    ['serve', '--port', '0'],
    /SANDBOX_KIT_JUDGE_URL must be a URL that starts with http:\/\/ or https:\/\/, got "localhost/,
    { SANDBOX_KIT_JUDGE_URL: 'localhost:1', SANDBOX_KIT_JUDGE_MODEL: 'a' },
  ],
  [
    ['serve', '--port', '0'],
    /SANDBOX_KIT_SPEECH_URL must be a URL that starts with .*, got "localhost:1"/,
    { SANDBOX_KIT_SPEECH_URL: 'localhost:1' },
  ],
  [
    ['simulate', 'http://127.0.0.1:1', '--voice'],
    /SANDBOX_KIT_TRANSCRIBE_URL must be a URL that starts with .*, got "whisper"/,
    { SANDBOX_KIT_TRANSCRIBE_URL: 'whisper' },
  ],
  [
    ['serve', '--port', '0'],
    /SANDBOX_KIT_TRANSCRIBE_API_KEY is set, but SANDBOX_KIT_TRANSCRIBE_URL is not\. Set both or n/,
    { SANDBOX_KIT_TRANSCRIBE_API_KEY: 'a-key' },
  ],
  [
    ['serve', '--port', '0'],
    /The key in SANDBOX_KIT_JUDGE_API_KEY must be /,
    {
      SANDBOX_KIT_JUDGE_URL: 'http://a',
      SANDBOX_KIT_JUDGE_MODEL: 'a',
      SANDBOX_KIT_JUDGE_API_KEY: 'ä',
    },
  ],
  [['exec', '--drain', '15s', '--', 'true'], /Unknown option --drain\./],
];

const tables: Record<string, UsageRow[]> = {
  general,
  addresses,
  options: optionRows,
  files: filesOfCheck,
  recordings,
  agents,
  services,
};

for (const [name, rows] of Object.entries(tables)) testUsage(t, name, rows, FOLDER);

void t.test('wrong usage ends a process with the same message and exit code', async (t) => {
  const all = Object.values(tables);
  for (const [[args, , env = {}] = [[], /./]] of atNight(all, [general])) {
    const options = { env, cwd: FOLDER };
    t.same(await runProcess(args, options), await run(args, options), args.join(' '));
  }
});
