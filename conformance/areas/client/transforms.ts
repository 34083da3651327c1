/** Changes to the requests of a client: the reference client behind a proxy that adds one fault. */
import { resolvePointer } from '../../../src/contract/index.ts';
import {
  changeRequest,
  jsonResponse,
  withBody,
  type When,
} from '../../engine/mutants/combinators.ts';
import type {
  Forward,
  ProxyRequest,
  ProxyResponse,
  TransformFactory,
} from '../../engine/mutants/mutant.ts';
import { type Attribute, createTraceExport, type Span } from '../service/spans.ts';
import { secondBatch } from './reference.ts';

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

/** Sets headers of the selected requests. */
export const setHeaders = (when: When, headers: Record<string, string>): TransformFactory =>
  changeRequest(when, (request) => withHeaders(request, headers));

/** Changes the path and the query of the selected requests. */
export const changePath = (when: When, change: (path: string) => string): TransformFactory =>
  changeRequest(when, (request) => ({ ...request, path: change(request.path) }));

/** Changes the body of the selected requests. */
export const changeBody = (when: When, change: (body: string) => string): TransformFactory =>
  changeRequest(when, (request) => withBody(request, change(request.body)));

/** Returns a trace request with other spans. */
export const withSpans = (request: ProxyRequest, spans: Span[]): ProxyRequest =>
  withBody(request, JSON.stringify(createTraceExport(spans)));

/** Changes the spans of the second batch. */
export function editSpans(edit: (spans: Span[]) => void): TransformFactory {
  return changeRequest(secondBatch, (request) => {
    const json = structuredClone(request.json);
    const spans = resolvePointer(json, '/resourceSpans/0/scopeSpans/0/spans');
    edit(spans as Span[]);
    return withBody(request, JSON.stringify(json));
  });
}

/** Changes each span of the second batch. */
export const editEachSpan = (edit: (span: Span) => void): TransformFactory =>
  editSpans((spans) => {
    for (const span of spans) edit(span);
  });

/** Changes the attributes of every span of the second batch. */
export const editAttributes = (
  edit: (attributes: Attribute[], span: Span) => Attribute[],
): TransformFactory =>
  editEachSpan((span) => {
    span.attributes = edit(span.attributes, span);
  });

/** Replaces the value of an attribute in the spans of the second batch that a function selects. */
export const setAttribute = (
  key: string,
  value: Attribute['value'],
  when: (span: Span) => boolean = () => true,
): TransformFactory =>
  editAttributes((attributes, span) =>
    attributes.map((attribute) =>
      when(span) && attribute.key === key ? { key, value } : attribute,
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

/** Sends the selected requests again after they were accepted. */
export const sendTwice =
  (when: When): TransformFactory =>
  () =>
  async (request, forward) => {
    const response = await forward(request);
    return when(request) && response.status === 200 ? forward(request) : response;
  };

/** Suppresses the selected requests. */
export const omit =
  (when: When): TransformFactory =>
  () =>
  async (request, forward) =>
    when(request) ? storedResponse : forward(request);

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
