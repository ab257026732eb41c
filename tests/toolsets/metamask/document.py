"""The input schemas of the specification, copied independently of the sources."""

from __future__ import annotations

from typing import Any

__all__ = ["SCHEMAS"]

SCHEMAS: dict[str, dict[str, Any]] = {
    "mm_build": {
        "additionalProperties": False,
        "properties": {
            "buildType": {"type": "string", "enum": ["build:test"], "default": "build:test"},
            "force": {"type": "boolean", "default": False},
        },
        "type": "object",
    },
    "mm_launch": {
        "additionalProperties": False,
        "properties": {
            "autoBuild": {"type": "boolean", "default": True},
            "stateMode": {
                "type": "string",
                "enum": ["default", "onboarding", "custom"],
                "default": "default",
            },
            "fixturePreset": {
                "type": "string",
                "minLength": 1,
                "description": "Name of preset (server maps to FixturePresets.*)",
            },
            "fixture": {"type": "object", "description": "Direct fixture object for stateMode=custom"},
            "ports": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "anvil": {"type": "integer", "minimum": 1, "maximum": 65535},
                    "fixtureServer": {"type": "integer", "minimum": 1, "maximum": 65535},
                },
            },
            "slowMo": {"type": "integer", "minimum": 0, "maximum": 10000, "default": 0},
            "extensionPath": {"type": "string"},
        },
        "type": "object",
    },
    "mm_cleanup": {
        "additionalProperties": False,
        "properties": {"sessionId": {"type": "string"}},
        "type": "object",
    },
    "mm_get_state": {"additionalProperties": False, "properties": {}, "type": "object"},
    "mm_navigate": {
        "additionalProperties": False,
        "properties": {
            "screen": {"type": "string", "enum": ["home", "settings", "notification", "url"]},
            "url": {"type": "string", "minLength": 1},
        },
        "required": ["screen"],
        "type": "object",
    },
    "mm_wait_for_notification": {
        "additionalProperties": False,
        "properties": {"timeoutMs": {"type": "integer", "minimum": 1000, "maximum": 60000, "default": 15000}},
        "type": "object",
    },
    "mm_list_testids": {
        "additionalProperties": False,
        "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 150}},
        "type": "object",
    },
    "mm_accessibility_snapshot": {
        "additionalProperties": False,
        "properties": {"rootSelector": {"type": "string", "minLength": 1}},
        "type": "object",
    },
    "mm_describe_screen": {
        "additionalProperties": False,
        "properties": {
            "includeScreenshot": {"type": "boolean", "default": False},
            "screenshotName": {"type": "string", "minLength": 1},
            "includeScreenshotBase64": {"type": "boolean", "default": False},
        },
        "type": "object",
    },
    "mm_screenshot": {
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "fullPage": {"type": "boolean", "default": True},
            "selector": {"type": "string", "minLength": 1},
            "includeBase64": {"type": "boolean", "default": False},
        },
        "required": ["name"],
        "type": "object",
    },
    "mm_click": {
        "additionalProperties": False,
        "properties": {
            "a11yRef": {"type": "string", "pattern": "^e[0-9]+$"},
            "testId": {"type": "string", "minLength": 1},
            "selector": {"type": "string", "minLength": 1},
            "timeoutMs": {"type": "integer", "minimum": 0, "maximum": 60000, "default": 30000},
        },
        "type": "object",
    },
    "mm_type": {
        "additionalProperties": False,
        "properties": {
            "a11yRef": {"type": "string", "pattern": "^e[0-9]+$"},
            "testId": {"type": "string", "minLength": 1},
            "selector": {"type": "string", "minLength": 1},
            "text": {"type": "string"},
            "timeoutMs": {"type": "integer", "minimum": 0, "maximum": 60000, "default": 30000},
        },
        "required": ["text"],
        "type": "object",
    },
    "mm_wait_for": {
        "additionalProperties": False,
        "properties": {
            "a11yRef": {"type": "string", "pattern": "^e[0-9]+$"},
            "testId": {"type": "string", "minLength": 1},
            "selector": {"type": "string", "minLength": 1},
            "timeoutMs": {"type": "integer", "minimum": 100, "maximum": 120000, "default": 30000},
        },
        "type": "object",
    },
    "mm_knowledge_last": {
        "additionalProperties": False,
        "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20}},
        "type": "object",
    },
    "mm_knowledge_search": {
        "additionalProperties": False,
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 200},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        },
        "required": ["query"],
        "type": "object",
    },
    "mm_knowledge_summarize": {
        "additionalProperties": False,
        "properties": {"sessionId": {"type": "string"}},
        "type": "object",
    },
}
