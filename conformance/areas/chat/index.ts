import { createArea } from '../../engine/area.ts';
import { listTried } from '../../engine/sweep/tried.ts';
import { errors } from './errors.ts';
import { leaks } from './leaks.ts';
import { malformed } from './malformed.ts';
import { observeChat } from './observed.ts';
import { chatProbes } from './probes.ts';
import { chatProperties } from './request-properties.ts';
import { reply } from './reply.ts';
import { sessionId } from './session-id.ts';
import { silences } from './silences.ts';
import { targets } from './targets.ts';
import { toolCalls } from './tool-calls.ts';
import { validRequests } from './valid-requests.ts';

/** `POST /v1/chat/completions`. */
export const chat = createArea({
  name: 'chat',
  endpoints: ['chat'],
  subjects: [
    validRequests,
    reply,
    sessionId,
    toolCalls,
    leaks,
    malformed,
    errors,
    targets,
    silences,
  ],
  probes: chatProbes,
  observe: observeChat,
  listTried: (transcript) => listTried('chat', chatProperties, transcript),
});
