/** Sends requests to a server of the kit that runs in this process, and checks the responses. */
import type { ManualClock } from '../../../src/platform/manual-clock.ts';
import { Violation, type Session } from '../engine/target.ts';
import { createConnection } from './connection.ts';
import { describeRequest, encodeRequest, type Request } from './requests.ts';
import { checkResponse, type ResponseRules } from './rules.ts';

/** A server under test. */
export interface ServerUnderTest {
  url: string;
  /** A path that responds with 200 while the server works. */
  healthPath: string;
  clock: ManualClock;
  rules: ResponseRules;
  /** Events that the server logged as errors. */
  logged: string[];
  /** Whether requests inject faults, so that only the log shows what is wrong. */
  injectsFaults: (requests: readonly Request[]) => boolean;
  clearFaults(): void;
  reset(): Promise<void> | void;
  stop(): Promise<void>;
}

/** How far the clock moves for each request, so that rate limits are met from time to time. */
const REQUEST_MS = 500;
/** If responses wait for the clock, such as an injected delay, it moves this much at a time. */
const WAIT_MS = 60_000;
const WAIT_INTERVAL_MS = 20;

/**
 * Creates a session that sends each input as requests over one connection, without waiting in between.
 * @param render Returns the requests of an input.
 */
export function createHttpSession<Input>(
  server: ServerUnderTest,
  render: (input: Input) => readonly Request[],
): Session<Input> {
  const { host, port } = new URL(server.url);
  const { clock, rules, logged } = server;
  const connection = createConnection(Number(port));
  const exchange = async (requests: readonly Request[]) => {
    const ticking = setInterval(() => clock.advance(WAIT_MS), WAIT_INTERVAL_MS);
    try {
      return await connection.exchange(requests.map((request) => encodeRequest(request, host)));
    } finally {
      clearInterval(ticking);
    }
  };
  const healthy: Request = { method: 'GET', path: server.healthPath, headers: [] };
  return {
    async send(input) {
      const requests = render(input);
      clock.advance(requests.length * REQUEST_MS);
      const responses = await exchange(requests);
      if (server.injectsFaults(requests)) server.clearFaults();
      else {
        for (const [index, request] of requests.entries()) {
          checkResponse(rules, request, responses[index]);
        }
      }
      const [event] = logged.splice(0);
      if (event !== undefined) throw new Violation(`The server logged an error: ${event}`);
    },
    describe: (input) =>
      render(input)
        .map((request) => describeRequest(request, host))
        .join('\n'),
    async reset() {
      await server.reset();
      const [response] = await exchange([healthy]);
      if (response?.status !== 200) throw new Violation('The server no longer responds.');
    },
    async close() {
      connection.close();
      await server.stop();
    },
  };
}
