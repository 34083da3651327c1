/** Wrong usage of every verb: one sentence that says what was expected, exit code 2. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run, type RunOptions } from '../helpers/command.ts';

const folder = t.testdir({});
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const missing = join(folder, 'not-there', 'file');
const empty = file('empty', '');
const twoLines = file('two-lines', 'one\ntwo\n');
const noPem = file('no-pem', 'hello');
const badPem = file('bad.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
const otherJson = file('other.json', '{"a":1}');
const truncated = file('truncated.ndjson', '{"record":"run","kitVersion":"0.1');
const baseline = (id: string, ...more: object[]): string =>
  file(
    `baseline-${id}-${more.length}.json`,
    JSON.stringify({ accepted: [{ id, comment: 'why' }, ...more] }),
  );
const noComment = file('no-comment.json', '{"accepted":[{"id":"CHAT-024","comment":" "}]}');
const linked = join(folder, 'linked');
symlinkSync(empty, linked);

// Nothing listens there: what goes on in spite of wrong usage exits with 3, not with 2.
const URL = 'http://127.0.0.1:1';

/** The arguments, what the sentence must say, and variables. */
type Row = [args: string[], says: RegExp, env?: Record<string, string>];

const general: Row[] = [
  [[], /Say what to do/],
  [['frobnicate'], /"frobnicate" is no verb: sandbox-kit --help lists all/],
  [['chekc', URL], /"chekc" is no verb: did you mean check\?/],
  [['--verison'], /Say what to do|--verison is no option/],
  [['demo', 'now'], /"now" is one argument too many/],
  [['chck'], /did you mean check/],
  [['sreve'], /did you mean serve/],
  [['nope'], /"nope" is no verb: sandbox-kit --help lists all/],
  [['demo', '--keep=3'], /--keep: expected no value, got "3"/],
  [['explain', 'NOPE'], /nothing is called "NOPE"/],
  [['explain', 'CHAT-24'], /did you mean CHAT-024\?/],
  [['explain', 'SERVICE-00'], /did you mean SERVICE-00\d\?/],
  [['explain', 'servcie'], /did you mean service\?/],
  [['explain', 'SERVCIE-087'], /did you mean SERVICE-087\?/],
  [['explain', 'CHAT-024', 'CHAT-025'], /one argument too many/],
  [['schemas', 'Nope'], /no message "Nope"/],
  [['schemas', 'chatrespons'], /did you mean ChatResponse\?/],
  [['schemas', '--out', join(noPem, 'x')], /--out: .* can't be made/],
  [['schemas', '--out', '/proc/nowhere/at-all'], /--out: .* can't be made/],
  [['schemas', 'Health', '--out', folder], /omit NAME/],
  [['selftest', '--only', 'no such peer'], /no id contains "no such peer"/],
  [['selftest', '--only', ''], /--only: expected a word, got ""/],
  [['selftest', '--only', 'a', '--only', 'b'], /--only: expected once/],
  [['selftest', '--only', 'health/', '--json', missing], /--json: .* can't be written/],
];

const addresses: Row[] = [
  [['check'], /URL: expected the address of a sandbox/],
  [['check', ''], /URL: expected the address .* got ""/],
  [['check', 'sandbox.example.com'], /URL: expected the address of a sandbox/],
  [['check', 'ftp://sandbox.example.com'], /got "ftp:\/\/sandbox.example.com"/],
  [['check', `${URL}/?a=1`], /without \? and #/],
  [['check', `${URL}/#a`], /without \? and #/],
  [['check', 'http://me:secret@127.0.0.1:1'], /without user and password/],
  [['check', URL, URL], /one argument too many/],
  [['doctor'], /URL is missing/],
  [['doctor', 'x'], /URL: expected the address of a sandbox/],
];

const options: Row[] = [
  [['check', URL, '--nope'], /--nope is no option here: sandbox-kit check --help/],
  [['check', URL, '--jsonn', 'x'], /did you mean --json\?/],
  [['check', URL, '--Area', 'chat'], /did you mean --area\?/],
  [['check', URL, '--rate', '-5s'], /--rate: expected a number above 0/],
  [['check', URL, '-x'], /-x is no option here/],
  [['check', URL, '--area', 'chta'], /--area: expected some of .*, got "chta"/],
  [['check', URL, '--area', ''], /--area: .* got ""/],
  [['check', URL, '--area'], /--area: expected a value/],
  [['check', URL, '--concurrency', 'x'], /--concurrency: expected a whole number from 1 to 64\./],
  [['check', URL, '--concurrency', '0'], /from 1 to 64, got 0/],
  [['check', URL, '--concurrency', '65'], /from 1 to 64, got 65/],
  [['check', URL, '--concurrency', '1.5'], /got 1.5/],
  [['check', URL, '--concurrency'], /--concurrency: expected a value/],
  [['check', URL, '--concurrency='], /--concurrency: expected a value/],
  [['check', URL, '--concurrency', '1', '--concurrency', '2'], /expected once/],
  [['check', URL, '--rate', '0'], /--rate: expected a number above 0, got 0/],
  [['check', URL, '--rate', '-1'], /got -1/],
  [['check', URL, '--rate', 'fast'], /--rate: expected a number/],
  [['check', URL, '--timeout-ms', '99'], /--timeout-ms: .* from 100 to 600000, got 99/],
  [['check', URL, '--seed', 'a b'], /--seed: expected 1 to 64 letters/],
  [['check', URL, '--seed', ''], /--seed: expected 1 to 64 letters/],
  [['check', URL, '--seed', 'a', '--seed', 'b'], /--seed: expected once/],
  [['check', URL, '--prompt', ''], /--prompt: expected a word, got ""/],
  [['check', URL, '--prompt'], /--prompt: expected a value/],
  [['check', URL, '--strict=yes'], /--strict: expected no value, got "yes"/],
  [['check', '--json', '--strict', URL], /--json: expected a value/],
];

const filesOfCheck: Row[] = [
  [['check', URL, '--json', missing], /--json: .* can't be written: no such file or folder/],
  [['check', URL, '--junit', missing], /--junit: .* can't be written/],
  [['check', URL, '--markdown', folder], /--markdown: .* can't be written: it is a folder/],
  [['check', URL, '--record', missing], /--record: .* can't be written/],
  [['check', URL, '--json', ''], /--json: expected a path, got ""/],
  [['check', URL, '--json'], /--json: expected a value/],
  [['check', URL, '--json', 'a', '--json', 'b'], /--json: expected once/],
  [['check', URL, '--json', '-', '--junit', '-'], /--json, --junit: only one of them/],
  [['check', URL, '--json', 'same', '--html', 'same'], /--json and --html: both .* to same/],
  [
    ['check', URL, '--record', 'same', '--junit', join(folder, 'same')],
    /--junit and --record: both/,
  ],
  [['check', URL, '--json', empty, '--html', linked], /--json and --html: both/],
  [['check', URL, '--save-audio', noPem], /--save-audio: expected a folder, .* is a file/],
  [['check', URL, '--save-audio', join(noPem, 'x')], /--save-audio: .* can't be made/],
  [['check', URL, '--save-audio', '/proc'], /--save-audio: nothing can be written into \/proc/],
  [['check', URL, '--save-audio', 'x', '--area', 'chat'], /no calls in --area chat: add voice/],
  [['check', URL, '--ca', missing], /--ca: .* can't be read/],
  [['check', URL, '--ca', folder], /--ca: .* can't be read: it is a folder/],
  [['check', URL, '--ca', noPem], /holds no PEM certificate/],
  [['check', URL, '--ca', badPem], /PEM certificate that can't be read/],
  [['check', URL, '--api-key-file', missing], /--api-key-file: .* can't be read/],
  [['check', URL, '--api-key-file', empty], /--api-key-file: .* is empty/],
  [['check', URL, '--api-key-file', twoLines], /characters that no HTTP header can carry/],
  [['check', URL], /SANDBOX_KIT_API_KEY has characters/, { SANDBOX_KIT_API_KEY: 'a b' }],
  [['check', URL, '--baseline', missing], /--baseline: .* can't be read/],
  [['check', URL, '--baseline', empty], /it is not JSON/],
  [['check', URL, '--baseline', otherJson], /at \/accepted expected \{"accepted":/],
  [['check', URL, '--baseline', noComment], /\/accepted\/0\/comment .*expected a comment/],
  [['check', URL, '--baseline', baseline('CHAT-24')], /did you mean CHAT-024\?/],
  [['check', URL, '--baseline', baseline('NOPE')], /"NOPE" is no requirement/],
  [
    ['check', URL, '--baseline', baseline('CHAT-024', { id: 'CHAT-024', comment: 'again' })],
    /"CHAT-024" is there twice/,
  ],
];

const recordings: Row[] = [
  [['grade'], /RECORDING is missing/],
  [['grade', missing], /RECORDING: .* can't be read/],
  [['grade', folder], /RECORDING: .* can't be read: it is a folder/],
  [['grade', empty], /is not a recording of check: line 1/],
  [['grade', noPem], /line 1: not JSON/],
  [['grade', otherJson], /is not a recording of check: line 1/],
  [['grade', truncated], /line 1: not JSON/],
];

const agents: Row[] = [
  [['agent', '--port', '65536'], /--port: .* from 0 to 65535, got 65536/],
  [['agent', '--port', 'x'], /--port: expected a whole number/],
  [['agent', '--port'], /--port: expected a value/],
  [['agent', '--host', '0.0.0.0'], /--host: .* SANDBOX_KIT_API_KEY, or say --open/],
  [['agent', '--fault', 'no-such-fault'], /not a fault/],
  [['agent', '--script', missing], /--script: .* can't be read: no such file/],
  [['agent', '--script', folder], /--script: .* can't be read: it is a folder/],
  [['agent', '--script', noPem], /the script .* is not JSON/],
  [['agent', '--script', otherJson], /the script .* is wrong/],
  [['agent', '--cert', badPem], /--cert and --key go together/],
  [['agent', '--port', '0', '--cert', badPem, '--key', badPem], /certificate can't be used/],
  [['agent', '--port', '0', '--tls', '--ca-out', missing], /--ca-out: .* can't be written/],
  [['agent', '--log-level', 'loud'], /--log-level: expected one of silent, error, warn, info/],
  [['agent', '--mutant', 'chat/content-nul'], /did you mean chat\/content-null\?/],
  [['agent', '--mutant', 'nope'], /no mutant "nope" of a sandbox: sandbox-kit selftest --list/],
  [['agent', '--mutant', 'chat/content-null', '--tls'], /--mutant speaks plain http/],
  [['agent', '--mutant', 'chat/content-null', '--port', '9'], /omit --host and --port/],
];

const tables: Record<string, Row[]> = {
  general,
  addresses,
  options,
  files: filesOfCheck,
  recordings,
  agents,
};

for (const [name, rows] of Object.entries(tables)) {
  void t.test(`wrong usage: ${name}`, { jobs: 4 }, (t) => {
    for (const [args, says, env = {}] of rows) {
      void t.test(args.join(' ').replaceAll(folder, '…'), { buffered: true }, async (t) => {
        const given: RunOptions = { env, timeoutMs: 20_000, cwd: folder };
        const { code, stdout, stderr } = await run(args, given);
        t.equal(code, 2, stderr);
        t.equal(stdout, '', 'nothing on stdout');
        t.match(stderr, /^sandbox-kit: [^\n]+[.?!]\n$/, 'one sentence');
        t.match(stderr, says);
        t.notMatch(
          stderr,
          /\bat .*\.[tj]s|secret|(?<!received )undefined|\[object/,
          'no stack, no secret',
        );
      });
    }
    t.end();
  });
}
