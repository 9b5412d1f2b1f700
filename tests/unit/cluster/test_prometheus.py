"""The scrape configuration reaches the nodes of both kinds of cluster."""

from __future__ import annotations

from typing import Any

DISCOVERIES = {"file_sd_configs", "kubernetes_sd_configs"}


def test_each_job_discovers_its_nodes_in_one_way(prometheus: dict[str, Any]) -> None:
    found = {job["job_name"]: DISCOVERIES & job.keys() for job in prometheus["scrape_configs"]}
    assert found == {"ray": {"file_sd_configs"}, "kuberay": {"kubernetes_sd_configs"}}


def test_pods_are_scraped_on_the_port_they_export_metrics_on(
    prometheus: dict[str, Any], rayservice: dict[str, Any]
) -> None:
    (kuberay,) = [job for job in prometheus["scrape_configs"] if job["job_name"] == "kuberay"]
    kept = {rule["regex"] for rule in kuberay["relabel_configs"] if rule.get("action") == "keep"}
    head = rayservice["spec"]["rayClusterConfig"]["headGroupSpec"]
    ports = {port["name"]: port["containerPort"] for port in head["template"]["spec"]["containers"][0]["ports"]}
    assert "metrics" in kept
    assert str(ports["metrics"]) == head["rayStartParams"]["metrics-export-port"]
