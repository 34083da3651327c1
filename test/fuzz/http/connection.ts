/** A connection to an HTTP server on loopback that sends any bytes, and reads the responses to them. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { Violation } from '../engine/target.ts';

/** A request as bytes. */
export interface RequestBytes {
  bytes: Uint8Array;
  /** Whether the response has no body, regardless of its headers. */
  isHead: boolean;
}

/** A response. */
export interface Response {
  status: number;
  /** By lower-case name; the values of a repeated header are joined. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Sends requests over one connection, which it opens again if the server closed it. */
interface Connection {
  /**
   * Sends requests without waiting in between, and returns the responses in order; undefined for a
   * request that the server did not respond to before it closed the connection.
   */
  exchange(requests: readonly RequestBytes[]): Promise<(Response | undefined)[]>;
  close(): void;
}

export function createConnection(port: number): Connection {
  let open: Pipeline | undefined;
  return {
    async exchange(requests) {
      const responses: (Response | undefined)[] = [];
      while (responses.length < requests.length) {
        open = open?.isUsable === true ? open : await Pipeline.open(port);
        const left = requests.slice(responses.length);
        const answered = await open.send(left);
        responses.push(...answered);
        const last = answered.at(-1);
        const isExpected = last !== undefined && isLast(last);
        if (answered.length < left.length && !isExpected) responses.push(undefined);
      }
      return responses;
    },
    close: () => open?.close(),
  };
}

/** Whether a response is the last one of its connection. */
const isLast = (response: Response): boolean =>
  response.headers['connection'] === 'close' || isEndless(response);

const isEndless = ({ status, headers }: Pick<Response, 'status' | 'headers'>): boolean =>
  status === 101 || (headers['content-type'] ?? '').startsWith('text/event-stream');

/** Requests that were sent one after another over one socket. */
class Pipeline {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: RequestBytes[] = [];
  #responses: Response[] = [];
  #done = Promise.withResolvers<undefined>();
  #error: Error | undefined;
  isUsable = true;

  static async open(port: number): Promise<Pipeline> {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    await once(socket, 'connect');
    return new Pipeline(socket);
  }

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#read(false);
    });
    socket.on('close', () => {
      this.isUsable = false;
      this.#read(true);
      this.#done.resolve(undefined);
    });
  }

  /** Returns the responses until the server closes the connection, and at most one for each request. */
  async send(requests: readonly RequestBytes[]): Promise<Response[]> {
    this.#waiting = [...requests];
    this.#responses = [];
    this.#done = Promise.withResolvers();
    if (this.isUsable) this.#socket.write(Buffer.concat(requests.map(({ bytes }) => bytes)));
    else this.#done.resolve(undefined);
    await this.#done.promise;
    if (this.#error) throw this.#error;
    return this.#responses;
  }

  close(): void {
    this.isUsable = false;
    this.#waiting = [];
    this.#socket.destroy();
    this.#done.resolve(undefined);
  }

  #read(isClosed: boolean): void {
    try {
      for (let [next] = this.#waiting; next; [next] = this.#waiting) {
        const parsed = parseResponse(this.#received, next.isHead, isClosed);
        if (!parsed) return;
        this.#received = this.#received.subarray(parsed.length);
        if (parsed.response.status === 100) continue;
        this.#waiting.shift();
        this.#responses.push(parsed.response);
        if (isLast(parsed.response)) this.close();
      }
      this.#done.resolve(undefined);
    } catch (error) {
      this.#error = error as Error;
      this.close();
    }
  }
}

interface ParsedResponse {
  response: Response;
  /** How many bytes it has. */
  length: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const BODILESS = [204, 304];

/** Parses the first response in these bytes; undefined if it is not complete. @throws Violation. */
export function parseResponse(
  bytes: Buffer,
  isHead: boolean,
  isClosed: boolean,
): ParsedResponse | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, digits] = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine) ?? [];
  if (digits === undefined) throw new Violation(`Not a status line: ${JSON.stringify(statusLine)}`);
  const headers = readHeaders(lines);
  const head = { status: Number(digits), headers };
  const start = end + HEAD_END.length;
  const complete = (body: Buffer, length: number): ParsedResponse => ({
    response: { ...head, body },
    length,
  });
  const isBodiless = isHead || head.status < 200 || BODILESS.includes(head.status);
  if (isBodiless || isEndless(head)) return complete(Buffer.alloc(0), start);
  if (headers['transfer-encoding'] === 'chunked') {
    const chunked = readChunks(bytes, start);
    return chunked && complete(chunked.body, chunked.end);
  }
  const length = headers['content-length'];
  if (length === undefined) {
    return isClosed ? complete(bytes.subarray(start), bytes.length) : undefined;
  }
  const bodyEnd = start + Number(length);
  return bytes.length < bodyEnd ? undefined : complete(bytes.subarray(start, bodyEnd), bodyEnd);
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~\w-]+): ?(.*)$/s.exec(line) ?? [];
    if (name === '') throw new Violation(`Not a header: ${JSON.stringify(line)}`);
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key] ?? ''}, ${value}` : value;
  }
  return headers;
}

/** Reads a chunked body without trailers; undefined if it is not complete. */
function readChunks(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const chunkEnd = lineEnd + 2 + size;
    if (bytes.length < chunkEnd + 2) return undefined;
    chunks.push(bytes.subarray(lineEnd + 2, chunkEnd));
    at = chunkEnd + 2;
    if (size === 0) return { body: Buffer.concat(chunks), end: at };
  }
}
