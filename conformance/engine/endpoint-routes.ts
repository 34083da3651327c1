import { sandboxRoutes, serviceRoutes, type Endpoint } from '../../src/contract/index.ts';

/** The routes of the endpoints that have one fixed method and path. */
export const endpointRoutes = {
  chat: sandboxRoutes.createChatCompletion,
  health: sandboxRoutes.getHealth,
  create: sandboxRoutes.createUser,
  delete: sandboxRoutes.deleteUser,
  traces: serviceRoutes.sendTraces,
  end: serviceRoutes.endConversation,
  simulations: serviceRoutes.listSimulationSessions,
  production: serviceRoutes.listProductionSessions,
} as const satisfies Partial<Record<Endpoint, { method: string; path: string }>>;

/** An endpoint with one fixed method and path. */
export type RoutedEndpoint = keyof typeof endpointRoutes;

/** Those endpoints, in the order of the interface. */
export const routedEndpoints = Object.keys(endpointRoutes) as RoutedEndpoint[];
