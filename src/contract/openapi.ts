import { SERVICE_API_KEY_HEADER } from './constants.ts';
import { schemas } from './generated/schemas.ts';
import { contractVersion } from './generated/version.ts';
import { SchemaComponents, type JsonSchema } from './json-schema.ts';
import type {
  Route,
  RouteContent,
  RouteContents,
  RouteHeader,
  RouteParameter,
  RouteResponse,
  Routes,
} from './routes/route.ts';
import { sandboxRoutes } from './routes/sandbox-routes.ts';
import { serviceRoutes } from './routes/service-routes.ts';

/** The area that an OpenAPI document describes: the service (area A) or a sandbox (area B). */
export type OpenApiArea = 'service' | 'sandbox';

/** Values of a running server that replace the defaults in the document in `schemas/`. */
export interface OpenApiOptions {
  /** Address of the routes; `/` is the server that sends the document. */
  serverUrl?: string;
  /** Header with the key of the service. */
  apiKeyHeader?: string;
}

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  openapi: string;
  info: object;
  servers: object[];
  security: object[];
  tags: object[];
  paths: Record<string, Record<string, object>>;
  components: { securitySchemes: object; schemas: Record<string, JsonSchema> };
}

interface AreaText {
  title: string;
  description: string;
  serverVariable: string;
  serverUrl: string;
  serverDescription: string;
  tags: Record<string, string>;
  /** Alternatives; an empty object means that a key is not required. */
  security: object[];
  routes: Routes;
}

const EXTENSIONS =
  '`x-extension: true` marks a response that is not in the specification, but that the servers of sandbox-kit send.';

const areas: Record<OpenApiArea, AreaText> = {
  service: {
    title: 'Evaluation service',
    description:
      'The endpoints of the evaluation service (area A of the interface): ingestion of production traces, closing ' +
      `of conversations, and results. ${EXTENSIONS}`,
    serverVariable: 'base_url',
    serverUrl: 'http://127.0.0.1:9090',
    serverDescription:
      'Base URL of the service; the default is the address of `sandbox-kit serve`.',
    tags: {
      traces: 'Ingestion of production traces.',
      conversations: 'The end of production conversations.',
      results: 'Sessions with the outcomes of their evals.',
    },
    security: [{ apiKey: [] }],
    routes: serviceRoutes,
  },
  sandbox: {
    title: 'Agent sandbox',
    description:
      'The HTTP endpoints that a customer hosts in a sandbox and that the evaluation service calls (area B of the ' +
      'interface). The voice WebSocket at `/voice` has a separate document, in AsyncAPI. ' +
      EXTENSIONS,
    serverVariable: 'sandbox_url',
    serverUrl: 'http://127.0.0.1:8080',
    serverDescription:
      'Base URL of the sandbox, with HTTPS outside of tests; the default is the address of `sandbox-kit agent`.',
    tags: {
      chat: 'Conversations with the agent.',
      health: 'Readiness for simulations.',
      users: 'Simulated users. Optional.',
    },
    security: [{ bearer: [] }, {}],
    routes: sandboxRoutes,
  },
};

/** Creates the OpenAPI document of an area from its routes and the schemas of their messages. */
export function createOpenApi(area: OpenApiArea, options: OpenApiOptions = {}): OpenApiDocument {
  const { title, description, tags, security, routes } = areas[area];
  const components = new SchemaComponents();
  const paths: OpenApiDocument['paths'] = {};
  for (const [operationId, route] of Object.entries(routes)) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = describeRoute(operationId, route, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      description,
      version: contractVersion,
      contact: { name: 'sandbox-kit' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [describeServer(areas[area], options)],
    security,
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      securitySchemes: describeSecurity(area, options),
      schemas: components.list(),
    },
  };
}

function describeServer(
  { serverVariable, serverUrl, serverDescription }: AreaText,
  options: OpenApiOptions,
): object {
  if (options.serverUrl !== undefined) {
    return { url: options.serverUrl, description: 'The server that sent this document.' };
  }
  const variable = { default: serverUrl, description: serverDescription };
  return { url: `{${serverVariable}}`, variables: { [serverVariable]: variable } };
}

function describeSecurity(
  area: OpenApiArea,
  { apiKeyHeader = SERVICE_API_KEY_HEADER }: OpenApiOptions,
): object {
  return area === 'service'
    ? {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: apiKeyHeader,
          description: 'The key of the caller, required on every request (spec 5).',
        },
      }
    : {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The key that the customer gave the service (spec 5). Recommended.',
        },
      };
}

function describeRoute(operationId: string, route: Route, components: SchemaComponents): object {
  const { tag, summary, description, spec, hasKey, parameters, body, responses } = route;
  return {
    operationId,
    tags: [tag],
    summary,
    description: `${description} See spec ${spec}.`,
    ...(!hasKey && { security: [] }),
    ...(parameters.length > 0 && {
      parameters: parameters.map((parameter) => describeParameter(parameter, components)),
    }),
    ...(body && { requestBody: { required: true, content: describeContents(body, components) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        describeResponse(response, components),
      ]),
    ),
  };
}

function describeParameter(parameter: RouteParameter, components: SchemaComponents): object {
  const { schema, ...rest } = parameter;
  const isInPath = parameter.in === 'path';
  return {
    ...rest,
    ...(isInPath && { required: true }),
    schema: components.convert({ ...schema }),
  };
}

function describeResponse(response: RouteResponse, components: SchemaComponents): object {
  const { description, content, headers, isExtension, examples } = response;
  return {
    description,
    ...(isExtension && { 'x-extension': true }),
    ...(headers && { headers: describeHeaders(headers) }),
    content: describeContents(content, components, examples),
  };
}

function describeHeaders(headers: Readonly<Record<string, RouteHeader>>): object {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { required, ...header }]) => [
      name,
      { ...header, ...(required && { required }) },
    ]),
  );
}

function describeContents(
  contents: RouteContents,
  components: SchemaComponents,
  examples?: Readonly<Record<string, unknown>>,
): object {
  return Object.fromEntries(
    Object.entries(contents).map(([mediaType, content]) => [
      mediaType,
      describeContent(content, components, examples),
    ]),
  );
}

function describeContent(
  content: RouteContent,
  components: SchemaComponents,
  examples: Readonly<Record<string, unknown>> | undefined,
): object {
  if ('bytes' in content) {
    return { schema: { type: 'string', format: 'binary', description: content.bytes } };
  }
  const shown = examples ?? numberExamples(schemas[content.message].examples);
  return {
    schema: components.refer(content.message),
    examples: Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, { value }])),
  };
}

function numberExamples(examples: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(examples.map((example, index) => [`example${index + 1}`, example]));
}
