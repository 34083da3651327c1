import { fastify } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { schemas, type ChatRequest, type UserCreateRequest } from '../src/contract/index.ts';
import type { Clock } from '../src/platform/clock.ts';
import type { Log } from '../src/platform/log.ts';
import { adminRoutes } from './admin.ts';
import { chat } from './chat.ts';
import { RequestError, toRequestError } from './errors.ts';
import { faultHook } from './fault-hook.ts';
import type { FaultRoute, FaultInjector } from './faults.ts';
import type { Authentication } from './authentication.ts';
import type { HealthCheck } from './health.ts';
import { journalBody, type Journal, type JournalEntry } from './journal.ts';
import type { Prompter } from './script.ts';
import type { KeyPair } from './tls.ts';
import type { Users } from './users.ts';
import { VOICE_PATH } from './voice/upgrade.ts';
import type { VoiceServer } from './voice/voice-server.ts';
import { answerBrokenHttp, answerRefusal, bodyBytesMax, speakTheContract } from './wire.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request came in, on the monotonic clock. */
    startedMs: number;
    /** What was answered; only where bodies are kept. */
    answerText: string | undefined;
  }
}

/** All that an agent consists of. */
export interface AgentParts {
  clock: Clock;
  log: Log;
  seed: string;
  authentication: Authentication;
  users: Users;
  faults: FaultInjector;
  journal: Journal;
  journalBodies: boolean;
  health: HealthCheck;
  prompter: Prompter | undefined;
  voice: VoiceServer | undefined;
  keyPair: KeyPair | undefined;
  /** Waits so many milliseconds, or until the agent stops. */
  pause: (ms: number) => Promise<void>;
}

// A peer that sends its request slower than this is cut off; Node's own default is 300 s.
const requestReceiveMsMax = 60_000;

// Longer than any id could be, so that one too long is told apart from a path that does not exist.
const pathPartLengthMax = 16_384;

/** The HTTP side of the agent: every route on one screen (spec 4.5 to 4.8), and the way to voice. */
export function buildAgent(parts: AgentParts): FastifyInstance {
  const { users, health, clock, pause, faults, journal, prompter, authentication, voice } = parts;
  const app = createApp(parts);
  const faultDeps = {
    ...parts,
    dropped: (request: FastifyRequest, reply: FastifyReply) => record(parts, request, reply),
  };
  const keyed = (route: FaultRoute): onRequestHookHandler => {
    const suffer = faultHook(faultDeps, route);
    return (request, reply, done) => {
      authentication.checkKey(request);
      suffer(request, reply, done);
    };
  };

  void app.register((api, _options, registered) => {
    keepJournal(api, parts);
    api.setNotFoundHandler((request) => {
      throw new RequestError(
        'not_found',
        `there is no ${request.method} ${request.url.slice(0, 200)}`,
      );
    });

    const chatDeps = { seed: parts.seed, customerName: users.nameOf, prompter };
    api.post<{ Body: ChatRequest }>(
      '/v1/chat/completions',
      { schema: { body: schemas.ChatRequest }, onRequest: keyed('chat') },
      ({ body, startedMs }) => {
        const { delayMs, response } = chat(chatDeps, body);
        const answer = (): object => response(clock.monotonicMs() - startedMs);
        return delayMs > 0 ? pause(delayMs).then(answer) : answer();
      },
    );
    api.get('/health', { onRequest: faultHook(faultDeps, 'health') }, ({ healthStatus }, reply) => {
      reply.code(healthStatus === 'unhealthy' ? 503 : 200);
      return health(healthStatus);
    });
    api.post<{ Body: UserCreateRequest }>(
      '/users',
      { schema: { body: schemas.UserCreateRequest }, onRequest: keyed('users') },
      ({ body }, reply) => reply.code(201).send(users.create(body)),
    );
    api.delete<{ Params: { user_id: string } }>(
      '/users/:user_id',
      { onRequest: keyed('users') },
      ({ params }) => users.delete(params.user_id),
    );

    if (voice) onlyByUpgrade(api, VOICE_PATH);
    refuseOtherMethods(api, '/v1/chat/completions', ['POST']);
    refuseOtherMethods(api, '/health', ['GET', 'HEAD']);
    refuseOtherMethods(api, '/users', ['POST']);
    refuseOtherMethods(api, '/users/:user_id', ['DELETE']);
    registered();
  });

  const kept = [users, journal, voice];
  const reset = (): void => {
    for (const part of kept) part?.clear();
    faults.reset();
    prompter?.reset();
  };
  void app.register(
    (admin, _options, registered) => {
      adminRoutes(admin, { authentication, faults, journal, voice, reset });
      registered();
    },
    { prefix: '/__admin' },
  );
  voice?.attach(app.server);
  return app;
}

function createApp({ keyPair, log }: AgentParts): FastifyInstance {
  const app = fastify({
    bodyLimit: bodyBytesMax,
    requestTimeout: requestReceiveMsMax,
    routerOptions: { maxParamLength: pathPartLengthMax },
    forceCloseConnections: 'idle',
    // One that comes while the agent stops is answered still, and its connection closed after.
    return503OnClosing: false,
    https: keyPair ?? null,
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: (error, _request, reply) => {
      void answerRefusal(reply, toRequestError(error));
    },
  });
  app.decorateRequest('startedMs', 0);
  app.decorateRequest('answerText');
  app.decorateRequest('healthStatus', 'healthy');
  speakTheContract(app, log);
  return app;
}

/** Notes every request that comes by, and when it came. */
function keepJournal(api: FastifyInstance, parts: AgentParts): void {
  api.addHook('onRequest', (request, _reply, done) => {
    request.startedMs = parts.clock.monotonicMs();
    done();
  });
  if (parts.journalBodies) {
    api.addHook('onSend', (request, _reply, payload, done) => {
      if (typeof payload === 'string') request.answerText = payload;
      done();
    });
  }
  api.addHook('onResponse', (request, reply, done) => {
    record(parts, request, reply);
    done();
  });
}

/** One entry of the journal; made in one piece, since every request pays for it. */
function record(parts: AgentParts, request: FastifyRequest, reply: FastifyReply): void {
  const { clock, journal, journalBodies } = parts;
  const entry: JournalEntry = {
    method: request.method,
    path: request.url,
    status: reply.raw.headersSent ? reply.statusCode : 0,
    atMs: clock.nowMs(),
    durationMs: clock.monotonicMs() - request.startedMs,
    requestBytes: Number(request.headers['content-length'] ?? 0),
    responseBytes: Number(reply.getHeader('content-length') ?? 0),
    requestBody: journalBodies ? journalBody(request.bodyText) : undefined,
    responseBody: journalBodies ? journalBody(request.answerText) : undefined,
  };
  journal.record(entry);
}

/** Tells who comes by plain HTTP that there is only a WebSocket here. */
function onlyByUpgrade(api: FastifyInstance, url: string): void {
  api.get(url, () => {
    const message = 'this is a WebSocket: ask for an upgrade, with the subprotocol voice-agent';
    throw new RequestError('upgrade_required', message, {
      upgrade: 'websocket',
      connection: 'Upgrade',
    });
  });
  refuseOtherMethods(api, url, ['GET', 'HEAD']);
}

/** Answers every method that a path does not have with 405 and the ones that it has. */
function refuseOtherMethods(api: FastifyInstance, url: string, allowed: string[]): void {
  api.route({
    method: api.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    onRequest(request) {
      const message = `there is no ${request.method} here, only ${allowed.join(', ')}`;
      throw new RequestError('method_not_allowed', message, { allow: allowed.join(', ') });
    },
    handler: () => undefined,
  });
}
