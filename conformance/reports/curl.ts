import type { ExchangeRecord, RunRecord } from '../../src/contract/index.ts';
import { deriveVoiceUrl } from '../../src/voice/call/voice-target.ts';

/**
 * A line for a POSIX shell that sends a recorded request again. The key stands in it as the
 * variable SANDBOX_KIT_API_KEY, the service's as SANDBOX_KIT_SERVICE_API_KEY, never as itself.
 */
export function curlOf(exchange: ExchangeRecord, target: string, voiceUrl = target): string {
  return exchange.endpoint === 'voice' ? wscatOf(exchange, voiceUrl) : curlLine(exchange, target);
}

/**
 * What shows a finding again that takes a call with media: no line can speak and listen but the kit's
 * own. It ends in a remark on where this run shows it.
 */
export function callAgain(exchange: ExchangeRecord, { target, voiceUrl }: RunRecord): string {
  const own = voiceUrl === deriveVoiceUrl(target) ? [] : ['--voice-url', quoted(voiceUrl ?? '')];
  const where = `# takes a call: exchange ${exchange.id} on the page of --html`;
  const line = ['sandbox-kit check', quoted(target), ...own, '--area voice --save-audio calls'];
  return [...line, where].join(' ');
}

/** What the kit said first in a call, by the tool that is to WebSockets what curl is to HTTP. */
function wscatOf({ request, call }: ExchangeRecord, voiceUrl: string): string {
  const { 'sec-websocket-protocol': protocol, ...headers } = request.headers;
  const said = call?.events.find(
    ({ from, kind, isBinary }) => from === 'kit' && kind === 'message' && !isBinary,
  );
  const options = [
    ...(protocol === undefined ? [] : ['-s', quoted(protocol)]),
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', keptOut(name, value)]),
    ...(said?.text === undefined ? [] : ['-w 10 -x', quoted(said.text)]),
  ];
  const url = new URL(request.path, voiceUrl).href;
  return ['npx wscat', ...options, '-c', quoted(url)].join(' ');
}

const keptOut = (name: string, value: string): string =>
  value === 'Bearer <redacted>'
    ? `"${name}: Bearer $SANDBOX_KIT_API_KEY"`
    : quoted(`${name}: ${value}`);

function curlLine({ request }: ExchangeRecord, target: string): string {
  const headers = Object.entries(request.headers).map(([name, value]) => {
    if (value === 'Bearer <redacted>') return '-H "authorization: Bearer $SANDBOX_KIT_API_KEY"';
    if (value === '<redacted>') return `-H "${name}: $SANDBOX_KIT_SERVICE_API_KEY"`;
    // curl takes a header without a value for one to be left out, unless a semicolon ends it.
    return `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`;
  });
  const method = request.method === 'GET' ? [] : [`-X ${request.method}`];
  // Not --data-binary, for which a body that begins with @ is the name of a file.
  const { body: text, bodyBase64, bodyBytes } = request;
  const data = bodyBase64 === undefined ? `--data-raw ${quoted(text ?? '')}` : '--data-binary @-';
  const body = text === undefined ? [] : [data];
  if (body.length > 0 && request.headers['content-type'] === undefined) {
    // Else curl would name a type of its own.
    headers.push("-H 'content-type:'");
  }
  const url = quoted(`${target.replace(/\/+$/, '')}${request.path}`);
  const line = ['curl -i', ...method, ...headers, ...body, url].join(' ');
  if (bodyBase64 !== undefined) return `printf %s ${bodyBase64} | base64 -d | ${line}`;
  return bodyBytes === undefined ? line : `${line} # the body had ${bodyBytes} bytes`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
