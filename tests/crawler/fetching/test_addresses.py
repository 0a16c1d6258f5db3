"""The address guard: nothing private or special, however it is written or hidden in IPv6."""

import pytest

from crawler.fetching.http.addresses import AddressGuard, permits_port

# fmt: off
SPECIAL = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255",
    "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.1",
    "192.0.0.9", "192.0.0.192", "192.88.99.1", "198.18.0.1", "198.19.255.255", "192.0.2.1",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::8.8.8.8",
    "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "2002:7f00:1::",
    "2002:808:808::", "2001:0:1::1", "2001:10::1", "2001:db8::1", "3fff::1", "5f00::1", "fc00::1",
    "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0", "fec0::1", "ff02::1", "100::1",
    "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:7f00:1",
]
# fmt: on

# fmt: off
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1",
    "223.255.255.255", "192.0.1.1", "198.17.0.1", "::ffff:8.8.8.8", "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e", "2001:200::1", "2001:4860:4860::8888",
]
# fmt: on


@pytest.mark.parametrize("address", SPECIAL)
def test_it_refuses_special_addresses(address: str) -> None:
    assert not AddressGuard().permits(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_it_permits_public_addresses(address: str) -> None:
    assert AddressGuard().permits(address)


@pytest.mark.parametrize("text", ["", "localhost", "2130706433", "0x7f.1", "127.1", "0177.0.0.1"])
def test_it_refuses_what_is_no_address(text: str) -> None:
    assert not AddressGuard().permits(text)


def test_it_permits_the_networks_that_are_allowed_and_no_more() -> None:
    guard = AddressGuard(["127.0.0.0/8", "fd00:1::/32"])
    assert guard.permits("127.1.2.3") and guard.permits("::ffff:127.0.0.1") and guard.permits("fd00:1::5")
    assert not guard.permits("10.0.0.1") and not guard.permits("::1") and not guard.permits("fd00:2::5")


def test_a_mistyped_network_is_an_error_at_start() -> None:
    with pytest.raises(ValueError, match="/33"):
        AddressGuard(["127.0.0.0/33"])


@pytest.mark.parametrize("port", [80, 443, 81, 1024, 3000, 8000, 8080, 8443, 8800, 32768, 65535])
def test_it_permits_ports_where_web_servers_are(port: int) -> None:
    assert permits_port(port)


@pytest.mark.parametrize(
    "port", [0, 1, 21, 22, 23, 25, 53, 110, 445, 587, 993, 2375, 3306, 5432, 6379, 9200, 11211]
)
def test_it_refuses_ports_of_other_services(port: int) -> None:
    assert not permits_port(port)
