import type { Endpoint } from '../../../src/contract/index.ts';
import { endpointRoutes, type RoutedEndpoint } from '../endpoint-routes.ts';

const nameOf = (endpoint: RoutedEndpoint): string => {
  const { method, path } = endpointRoutes[endpoint];
  return `${method} ${path}`;
};

/** The routes as people know them, by endpoint. */
export const routeNames: Readonly<Record<Endpoint, string>> = {
  chat: nameOf('chat'),
  health: nameOf('health'),
  create: nameOf('create'),
  delete: nameOf('delete'),
  voice: 'Voice WebSocket',
  traces: nameOf('traces'),
  end: nameOf('end'),
  simulations: nameOf('simulations'),
  production: nameOf('production'),
  admin: '/__admin',
  elsewhere: 'Another path',
};

/** The endpoints of the service, in the order of their use. */
export const serviceEndpoints = ['traces', 'end', 'simulations', 'production'] as const;

/** Returns whether an endpoint belongs to the service. */
export const isServiceEndpoint = (endpoint: Endpoint): boolean =>
  serviceEndpoints.some((name) => name === endpoint);
