"""Asks one question over gRPC, whole or streamed, and says what was wrong with the answer. Knows no clock.

The messages are learned from the service by reflection: a client needs nothing but its address.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from load_tests.ask_http import fault_of_reason
from load_tests.options import Options
from load_tests.question import Question

SERVICE = "seer.v1.Seer"


class GrpcAsker:
    """One channel for all calls. The options go with every question."""

    def __init__(self, address: str, options: Options) -> None:
        self._options = options
        self._channel = grpc.insecure_channel(address)
        pool = DescriptorPool(ProtoReflectionDescriptorDatabase(self._channel))
        methods = pool.FindServiceByName(SERVICE).methods_by_name
        self._request = GetMessageClass(methods["Generate"].input_type)
        self._whole = self._channel.unary_unary(
            f"/{SERVICE}/Generate",
            request_serializer=self._request.SerializeToString,
            response_deserializer=GetMessageClass(methods["Generate"].output_type).FromString,
        )
        self._stream = self._channel.unary_stream(
            f"/{SERVICE}/GenerateStream",
            request_serializer=self._request.SerializeToString,
            response_deserializer=GetMessageClass(methods["GenerateStream"].output_type).FromString,
        )

    def close(self) -> None:
        self._channel.close()

    def generate(self, question: Question) -> str | None:
        """The fault of the answer, or None for a whole one."""
        try:
            reply: Any = self._whole(self._message(question), timeout=self._options.timeout_s)
        except grpc.RpcError as error:
            return fault_of_call(error)
        return fault_of_reason(reply.outcome.finish_reason)

    def generate_stream(self, question: Question) -> str | None:
        """The same for a stream; one that ends without an outcome is at fault."""
        try:
            chunks: list[Any] = list(self._stream(self._message(question), timeout=self._options.timeout_s))
        except grpc.RpcError as error:
            return fault_of_call(error)
        return fault_of_reason(chunks[-1].outcome.finish_reason if chunks else None)

    def _message(self, question: Question) -> Any:
        request: Any = self._request(temperature=0.0, **asdict(self._options))
        request.messages.add(role="user", text=question.text, images=[question.png])
        return request


def fault_of_call(error: Any) -> str:
    return f"gRPC {error.code().name}: {str(error.details())[:300]}"
