import { resolvePointer } from '../../../src/contract/index.ts';
import {
  changeRequest,
  changeResponse,
  editBody,
  jsonResponse,
  to,
  withBody,
  type When,
} from '../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  createVariantFactory,
  type Forward,
  type ProxyRequest,
  type ProxyResponse,
  type TransformFactory,
} from '../../engine/mutants/mutant.ts';
import { queryParameter } from '../service/results-api.ts';
import type { Attribute, Span } from '../service/spans.ts';
import { traceIds } from './reference.ts';

/** Creates a faulty client: the reference client behind a proxy that adds one fault. */
export const mutant = createMutantFactory('client');

/** Creates an unusual but legal client. */
export const variant = createVariantFactory('client');

/** Returns a request with other headers. */
export const withHeaders = (
  request: ProxyRequest,
  headers: Record<string, string>,
): ProxyRequest => ({ ...request, headers: { ...request.headers, ...headers } });

/** Returns a request without a header. */
export function withoutHeader(request: ProxyRequest, name: string): ProxyRequest {
  const { [name]: removed, ...headers } = request.headers;
  return { ...request, headers };
}

/** Selects the batch that most transforms change. The service accepts it the first time. */
export const secondBatch: When = to('traces', ({ json }) => isBatch(json, traceIds.second));

/** Selects the batch that the service refuses with 429 and then with 503. */
export const firstBatch: When = to('traces', ({ json }) => isBatch(json, traceIds.first));

function isBatch(json: unknown, id: string): boolean {
  return resolvePointer(json, '/resourceSpans/0/scopeSpans/0/spans/0/traceId') === id;
}

/** Changes the spans of the second batch. */
export function editSpans(edit: (spans: Span[]) => void): TransformFactory {
  return changeRequest(secondBatch, (request) => {
    const json = structuredClone(request.json);
    const spans = resolvePointer(json, '/resourceSpans/0/scopeSpans/0/spans');
    edit(spans as Span[]);
    return withBody(request, JSON.stringify(json));
  });
}

/** Changes the attributes of every span of the second batch. */
export function editAttributes(
  edit: (attributes: Attribute[], span: Span) => Attribute[],
): TransformFactory {
  return editSpans((spans) => {
    for (const span of spans) span.attributes = edit(span.attributes, span);
  });
}

/** Replaces the value of an attribute in the second batch. */
export const setAttribute = (key: string, value: unknown): TransformFactory =>
  editAttributes((attributes) =>
    attributes.map((attribute) =>
      attribute.key === key ? { key, value: value as Attribute['value'] } : attribute,
    ),
  );

/** Removes an attribute from the spans of the second batch that a function selects. */
export const dropAttribute = (
  key: string,
  when: (span: Span) => boolean = () => true,
): TransformFactory =>
  editAttributes((attributes, span) =>
    when(span) ? attributes.filter((attribute) => attribute.key !== key) : attributes,
  );

/** Returns a function that tells whether a span has this operation. */
export const isOperation =
  (name: string) =>
  ({ attributes }: Span): boolean =>
    attributes.some(
      ({ key, value }) =>
        key === 'gen_ai.operation.name' && 'stringValue' in value && value.stringValue === name,
    );

/** The response of the service when it has stored the spans. */
export const storedResponse: ProxyResponse = jsonResponse(200, {});

/** Sends a request again immediately after this status. */
export const retryImmediately = (when: When, status: number): TransformFactory => {
  return () => async (request, forward) => {
    const response = await forward(request);
    return when(request) && response.status === status ? forward(request) : response;
  };
};

/** Prevents a retry after this status. */
export const giveUp = (when: When, status: number): TransformFactory => {
  return () => async (request, forward) => {
    const response = await forward(request);
    return when(request) && response.status === status ? storedResponse : response;
  };
};

/** Sends additional requests before the first selected one. */
export function sendBefore(
  when: When,
  more: (request: ProxyRequest, forward: Forward) => Promise<void>,
): TransformFactory {
  return () => {
    let isDone = false;
    return async (request, forward) => {
      if (!isDone && when(request)) {
        isDone = true;
        await more(request, forward);
      }
      return forward(request);
    };
  };
}

/** Returns a factory of transforms that set the `total` of pages, by which a client ends its reads. */
export const setTotal = (when: When, total: number): TransformFactory =>
  changeResponse(when, (response, request) =>
    editBody(response, request, (page) => {
      page['total'] = total;
    }),
  );

/** Selects reads of the list that the client reads with filters and a limit. */
export const pagedRead: When = to(
  'simulations',
  ({ path }) => queryParameter(path, 'limit') === '25',
);

/** Selects reads of the list that the client reads with no parameter except `skip`. */
export const plainRead: When = to(
  'simulations',
  ({ path }) => queryParameter(path, 'limit') === undefined,
);
