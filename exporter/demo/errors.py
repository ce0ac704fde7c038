"""Refusals in the shape that OpenAI clients understand."""

from aiohttp import web
from aiohttp.typedefs import Handler


class ApiError(Exception):
    """A request that is answered with an HTTP status and an OpenAI error object.

    ``param`` names the field that is to blame, ``code`` is for programs; None where there is none.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
        self.headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}


def invalid(param: str | None, message: str, code: str | None = None) -> ApiError:
    """Return the 400 that says what is wrong with a field."""
    return ApiError(400, message, param=param, code=code)


def overloaded(message: str) -> ApiError:
    """Return the 429 that asks the client to come back in a second."""
    return ApiError(429, message, kind="rate_limit_error", code="rate_limit_exceeded", retry_after_s=1)


def server_error(status: int, message: str) -> ApiError:
    """Return a failure that is not the client's doing."""
    return ApiError(status, message, kind="server_error")


@web.middleware
async def openai_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer refusals, ours and aiohttp's, with an error object."""
    try:
        return await handler(request)
    except ApiError as error:
        return _answer(error)
    except web.HTTPRequestEntityTooLarge as error:
        return _answer(
            ApiError(413, f"The request body is too large: {error.text}.", code="request_too_large")
        )
    except web.HTTPMethodNotAllowed as error:
        allowed = ", ".join(sorted(error.allowed_methods))
        answer = _answer(ApiError(405, f"Not allowed to {request.method} on {request.path}; use {allowed}."))
        answer.headers["Allow"] = allowed
        return answer
    except web.HTTPNotFound:
        message = f"Unknown request URL: {request.method} {request.path}."
        return _answer(ApiError(404, message, code="unknown_url"))


def _answer(error: ApiError) -> web.Response:
    return web.json_response(error.body, status=error.status, headers=error.headers)
