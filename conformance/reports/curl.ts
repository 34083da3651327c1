import type { ExchangeRecord, RunRecord } from '../../src/contract/index.ts';
import { quoteText } from '../../src/platform/shell.ts';
import { TRACEPARENT } from '../../src/platform/trace-context.ts';
import { deriveVoiceUrl } from '../../src/voice/call/voice-target.ts';
import { REDACTED } from '../../src/platform/redaction.ts';

/** Longer bodies are shown as their beginning. */
const BODY_LENGTH_MAX = 1_000;
const BODY_START_LENGTH = 200;

/** Returns the beginning of a long text. */
const shortenBody = (text: string): string =>
  text.length <= BODY_LENGTH_MAX ? text : `${text.slice(0, BODY_START_LENGTH).toWellFormed()}...`;

/** Says that a command contains only the beginning of a body. */
const describeShortened = (bytes: number): string => ` # shortened: the body has ${bytes} bytes`;

/**
 * Returns a POSIX shell command that sends a recorded request again. A long body is shortened, and a
 * comment says so. Keys appear only as the variables
 * SANDBOX_KIT_API_KEY (sandbox) and SANDBOX_KIT_SERVICE_API_KEY (service), and other secret headers as
 * variables that are named after the header.
 */
export function requestCommand(
  exchange: ExchangeRecord,
  target: string,
  voiceUrl = target,
  headerNames: readonly string[] = [],
): string {
  return exchange.endpoint === 'voice'
    ? wscatLine(exchange, voiceUrl, headerNames)
    : curlLine(exchange, target, headerNames);
}

/**
 * Returns the command that reproduces a finding in call media. Only the kit can speak and listen, so the
 * command runs a check; its comment says where the report shows the finding.
 */
export function callCommand(exchange: ExchangeRecord, { target, voiceUrl }: RunRecord): string {
  const voiceOption =
    voiceUrl === deriveVoiceUrl(target) ? [] : ['--voice-url', quoteText(voiceUrl ?? '')];
  const comment = `# needs a call; see exchange ${exchange.id} in the --html report`;
  const line = [
    'sandbox-kit check',
    quoteText(target),
    ...voiceOption,
    '--area voice --save-audio calls',
  ];
  return [...line, comment].join(' ');
}

/** Returns a wscat command that sends the first message of a call again. */
function wscatLine(
  { request, call }: ExchangeRecord,
  voiceUrl: string,
  headerNames: readonly string[],
): string {
  const { 'sec-websocket-protocol': protocol, ...headers } = withoutTrace(request.headers);
  const first = call?.events.find(
    ({ from, kind, isBinary }) => from === 'kit' && kind === 'message' && !isBinary,
  );
  const options = [
    ...(protocol === undefined ? [] : ['-s', quoteText(protocol)]),
    ...Object.entries(headers).flatMap(([name, value]) => [
      '-H',
      headerWithoutKey(name, value, headerNames),
    ]),
    ...(first?.text === undefined ? [] : ['-w 10 -x', quoteText(shortenBody(first.text))]),
  ];
  const url = new URL(request.path, voiceUrl).href;
  return ['npx wscat', ...options, '-c', quoteText(url)].join(' ');
}

function headerWithoutKey(name: string, value: string, headerNames: readonly string[]): string {
  if (value === `Bearer ${REDACTED}`) return `"${name}: Bearer $SANDBOX_KIT_API_KEY"`;
  if (value === REDACTED) return `"${name}: $${variableOf(name, headerNames)}"`;
  return quoteText(`${name}: ${value}`);
}

/** A request that is sent again would otherwise join the trace of the first one. */
function withoutTrace({ [TRACEPARENT]: _, ...headers }: Record<string, string>): typeof headers {
  return headers;
}

/** Returns the variable with the value of a redacted header; the name of the header names it. */
function variableOf(name: string, headerNames: readonly string[]): string {
  if (!headerNames.includes(name)) return 'SANDBOX_KIT_SERVICE_API_KEY';
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

function curlLine(
  { request }: ExchangeRecord,
  target: string,
  headerNames: readonly string[],
): string {
  const headers = Object.entries(withoutTrace(request.headers)).map(([name, value]) =>
    // curl removes a header without a value unless a semicolon ends it.
    value === ''
      ? `-H ${quoteText(`${name};`)}`
      : `-H ${headerWithoutKey(name, value, headerNames)}`,
  );
  const method = request.method === 'GET' ? [] : [`-X ${request.method}`];
  // --data-binary would treat a body that starts with @ as a file name.
  const { body: text, bodyBase64, bodyBytes } = request;
  const data =
    bodyBase64 === undefined
      ? `--data-raw ${quoteText(shortenBody(text ?? ''))}`
      : '--data-binary @-';
  const body = text === undefined ? [] : [data];
  if (body.length > 0 && request.headers['content-type'] === undefined) {
    // Otherwise curl would add its own content type.
    headers.push("-H 'content-type:'");
  }
  const url = quoteText(`${target.replace(/\/+$/, '')}${request.path}`);
  const line = ['curl -i', ...method, ...headers, ...body, url].join(' ');
  const stored = bodyBase64 ?? text ?? '';
  const whole =
    bodyBase64 === undefined ? line : `printf %s ${shortenBody(stored)} | base64 -d | ${line}`;
  if (bodyBytes !== undefined) return `${whole} # the body had ${bodyBytes} bytes`;
  if (stored.length <= BODY_LENGTH_MAX) return whole;
  return (
    whole +
    describeShortened(Buffer.byteLength(stored, bodyBase64 === undefined ? 'utf8' : 'base64'))
  );
}
