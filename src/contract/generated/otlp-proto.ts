// Generated from schemas/ by src/contract/generate.ts, do not edit.
export const otlpProto = {
  "nested": {
    "sandbox_kit": {
      "nested": {
        "otlp": {
          "nested": {
            "ExportTraceServiceRequest": {
              "fields": {
                "resourceSpans": {
                  "rule": "repeated",
                  "type": "ResourceSpans",
                  "id": 1,
                  "protoName": "resource_spans"
                }
              }
            },
            "ExportTraceServiceResponse": {
              "fields": {
                "partialSuccess": {
                  "type": "ExportTracePartialSuccess",
                  "id": 1,
                  "protoName": "partial_success"
                }
              }
            },
            "ExportTracePartialSuccess": {
              "fields": {
                "rejectedSpans": {
                  "type": "int64",
                  "id": 1,
                  "protoName": "rejected_spans"
                },
                "errorMessage": {
                  "type": "string",
                  "id": 2,
                  "protoName": "error_message"
                }
              }
            },
            "ResourceSpans": {
              "fields": {
                "resource": {
                  "type": "Resource",
                  "id": 1
                },
                "scopeSpans": {
                  "rule": "repeated",
                  "type": "ScopeSpans",
                  "id": 2,
                  "protoName": "scope_spans"
                }
              }
            },
            "Resource": {
              "fields": {
                "attributes": {
                  "rule": "repeated",
                  "type": "KeyValue",
                  "id": 1
                }
              }
            },
            "ScopeSpans": {
              "fields": {
                "scope": {
                  "type": "InstrumentationScope",
                  "id": 1
                },
                "spans": {
                  "rule": "repeated",
                  "type": "Span",
                  "id": 2
                }
              }
            },
            "InstrumentationScope": {
              "fields": {
                "name": {
                  "type": "string",
                  "id": 1
                },
                "version": {
                  "type": "string",
                  "id": 2
                }
              }
            },
            "Span": {
              "fields": {
                "traceId": {
                  "type": "bytes",
                  "id": 1,
                  "protoName": "trace_id"
                },
                "spanId": {
                  "type": "bytes",
                  "id": 2,
                  "protoName": "span_id"
                },
                "parentSpanId": {
                  "type": "bytes",
                  "id": 4,
                  "protoName": "parent_span_id"
                },
                "name": {
                  "type": "string",
                  "id": 5
                },
                "startTimeUnixNano": {
                  "type": "fixed64",
                  "id": 7,
                  "protoName": "start_time_unix_nano"
                },
                "endTimeUnixNano": {
                  "type": "fixed64",
                  "id": 8,
                  "protoName": "end_time_unix_nano"
                },
                "attributes": {
                  "rule": "repeated",
                  "type": "KeyValue",
                  "id": 9
                },
                "events": {
                  "rule": "repeated",
                  "type": "Event",
                  "id": 11
                },
                "status": {
                  "type": "Status",
                  "id": 15
                }
              }
            },
            "Event": {
              "fields": {
                "name": {
                  "type": "bytes",
                  "id": 2
                }
              }
            },
            "Status": {
              "fields": {
                "message": {
                  "type": "string",
                  "id": 2
                },
                "code": {
                  "type": "StatusCode",
                  "id": 3
                }
              },
              "nested": {
                "StatusCode": {
                  "values": {
                    "STATUS_CODE_UNSET": 0,
                    "STATUS_CODE_OK": 1,
                    "STATUS_CODE_ERROR": 2
                  }
                }
              }
            },
            "AnyValue": {
              "oneofs": {
                "value": {
                  "oneof": [
                    "stringValue",
                    "boolValue",
                    "intValue",
                    "doubleValue",
                    "arrayValue",
                    "kvlistValue",
                    "bytesValue"
                  ]
                }
              },
              "fields": {
                "stringValue": {
                  "type": "string",
                  "id": 1,
                  "protoName": "string_value"
                },
                "boolValue": {
                  "type": "bool",
                  "id": 2,
                  "protoName": "bool_value"
                },
                "intValue": {
                  "type": "int64",
                  "id": 3,
                  "protoName": "int_value"
                },
                "doubleValue": {
                  "type": "double",
                  "id": 4,
                  "protoName": "double_value"
                },
                "arrayValue": {
                  "type": "ArrayValue",
                  "id": 5,
                  "protoName": "array_value"
                },
                "kvlistValue": {
                  "type": "KeyValueList",
                  "id": 6,
                  "protoName": "kvlist_value"
                },
                "bytesValue": {
                  "type": "bytes",
                  "id": 7,
                  "protoName": "bytes_value"
                }
              }
            },
            "ArrayValue": {
              "fields": {
                "values": {
                  "rule": "repeated",
                  "type": "AnyValue",
                  "id": 1
                }
              }
            },
            "KeyValueList": {
              "fields": {
                "values": {
                  "rule": "repeated",
                  "type": "KeyValue",
                  "id": 1
                }
              }
            },
            "KeyValue": {
              "fields": {
                "key": {
                  "type": "string",
                  "id": 1
                },
                "value": {
                  "type": "AnyValue",
                  "id": 2
                }
              }
            }
          }
        }
      }
    }
  }
};
