import type { Endpoint } from '../../../src/contract/index.ts';

/** The routes as people know them, by endpoint. */
export const routeNames: Readonly<Record<Endpoint, string>> = {
  chat: 'POST /v1/chat/completions',
  health: 'GET /health',
  create: 'POST /users',
  delete: 'DELETE /users/{user_id}',
  voice: 'Voice WebSocket',
  traces: 'POST /v1/traces',
  end: 'POST /v1/sessions/{conversation_id}/end',
  simulations: 'GET /api/simulations/sessions/',
  production: 'GET /api/prod-evaluations/sessions/',
  admin: '/__admin',
  elsewhere: 'Another path',
};

/** The endpoints of the service, in the order of their use. */
export const serviceEndpoints = ['traces', 'end', 'simulations', 'production'] as const;
